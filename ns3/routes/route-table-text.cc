/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/routes/route-table-text.h"

#include "ns3/routes/route-table-columns.h"

#include "base/error.h"
#include "base/wire/address_scope.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <sstream>

namespace ns3
{
namespace
{

using routetable::Column;
using routetable::Columns;
using routetable::Plain;
using routetable::ReadHeader;
using viaduct::wire::Family;
using viaduct::wire::IpAddress;
using viaduct::wire::IpPrefix;

std::vector<std::string>
Words(const std::string& line)
{
    std::istringstream stream(line);
    return {std::istream_iterator<std::string>(stream), {}};
}

std::optional<IpAddress>
TryAddress(const std::string& text)
{
    try
    {
        return IpAddress::Parse(text);
    }
    catch (const viaduct::Error&)
    {
        return std::nullopt;
    }
}

/** @return whether a word is an address, or a network such as "10.0.0.0/24" */
bool
IsAddress(const std::string& word)
{
    return TryAddress(word.substr(0, word.find('/'))).has_value();
}

bool
IsNumber(const std::string& text)
{
    return !text.empty() && text.size() < 10 && std::all_of(text.begin(), text.end(), [](char c) {
        return std::isdigit(static_cast<unsigned char>(c));
    });
}

std::optional<int>
MaskLength(const std::string& text, Family family)
{
    const int most = family == Family::kIpv4 ? 32 : 128;
    const std::string digits = text.starts_with("/") ? text.substr(1) : text;
    if (IsNumber(digits))
    {
        const int length = std::stoi(digits);
        return length <= most ? std::optional(length) : std::nullopt;
    }
    const auto mask = TryAddress(text);
    if (!mask || mask->family != family)
    {
        return std::nullopt;
    }
    const auto bit = [&](int i) { return (mask->bytes[i / 8] & (0x80 >> (i % 8))) != 0; };
    int length = 0;
    while (length < most && bit(length))
    {
        length++;
    }
    for (int i = length; i < most; i++)
    {
        if (bit(i))
        {
            return std::nullopt;
        }
    }
    return length;
}

/**
 * Separates columns that have run together: in ns-3's tables of IPv6 a destination of more than 30
 * characters leaves no space before the next hop ("2001:...:7777/64fe80::1"), and a next hop of
 * more than 26 characters leaves no space before the flags. Flags begin with "U", which no address
 * contains. If the digits after the slash can be split in several ways, the longest prefix whose
 * host bits are all zero is used.
 * @param line the row
 * @return the row, with the missing spaces inserted
 */
std::string
SeparateIpv6(const std::string& line)
{
    std::string text = line;
    const size_t slash = text.find('/');
    if (slash == std::string::npos || text.find(':') > slash)
    {
        return text;
    }
    const size_t flags = text.find('U', slash);
    if (flags != std::string::npos && text[flags - 1] != ' ')
    {
        text.insert(flags, " ");
    }
    const size_t end = std::min(text.find(' ', slash), text.size());
    const auto destination = TryAddress(text.substr(0, slash));
    if (!destination || text.find(':', slash) > end)
    {
        return text;
    }
    for (size_t digits = 3; digits > 0; digits--)
    {
        const std::string number = text.substr(slash + 1, digits);
        const size_t cut = slash + 1 + digits;
        if (!IsNumber(number) || std::stoi(number) > 128 || cut >= end ||
            !TryAddress(text.substr(cut, end - cut)))
        {
            continue;
        }
        if (IpPrefix{*destination, std::stoi(number)}.Network().address == *destination)
        {
            text.insert(cut, " ");
            return text;
        }
    }
    return text;
}

/** @return the words of a row, one for each column; none if the row has too few or too many
 * words */
std::optional<std::vector<std::string>>
Cells(const std::vector<std::string>& words, const Columns& columns)
{
    if (words.size() == columns.size())
    {
        return words;
    }
    const auto place = std::find(columns.begin(), columns.end(), Column::INTERFACE);
    if (words.size() < columns.size() || place == columns.end())
    {
        return std::nullopt;
    }
    const auto first = words.begin() + (place - columns.begin());
    const auto last = first + static_cast<long>(words.size() - columns.size());
    std::vector<std::string> cells(words.begin(), first);
    std::string name = *first;
    for (auto word = first; word != last; ++word)
    {
        name += " " + *(word + 1);
    }
    cells.push_back(name);
    cells.insert(cells.end(), last + 1, words.end());
    return cells;
}

/** Returns whether a route is usable, by the word in the column STATE; none if the word is
 * unknown. */
std::optional<bool>
IsUp(const std::string& word)
{
    static const std::set<std::string> UP{"up", "valid", "active", "yes", "true", "1"};
    static const std::set<std::string> DOWN{"down",
                                            "invalid",
                                            "inactive",
                                            "no",
                                            "false",
                                            "0",
                                            "expired",
                                            "broken",
                                            "insearch",
                                            "search",
                                            "searching",
                                            "stale",
                                            "unreachable"};
    const std::string plain = Plain(word);
    if (UP.contains(plain) || DOWN.contains(plain))
    {
        return UP.contains(plain);
    }
    // The flags of route(8): U (up), G (gateway), H (host), ! (reject) and others.
    const bool isLetters = word.find_first_not_of("UGHRDMACS!") == std::string::npos;
    return isLetters && word.starts_with("U") ? std::optional(word.find('!') == std::string::npos)
                                              : std::nullopt;
}

/** Returns the metric in a word; none if the word is not a metric. */
std::optional<uint32_t>
Metric(const std::string& word)
{
    constexpr uint32_t INFINITE = std::numeric_limits<uint32_t>::max();
    static const std::set<std::string> NONE{"-", "*"}; // the protocol has no metrics
    static const std::set<std::string> ENDLESS{"inf", "infinity", "-1", "4294967295"};
    if (NONE.contains(word))
    {
        return 0;
    }
    if (ENDLESS.contains(word))
    {
        return INFINITE;
    }
    if (IsNumber(word))
    {
        return static_cast<uint32_t>(std::stoul(word));
    }
    // A link quality, such as OLSR's ETX, is converted to thousandths, to keep the order.
    char* end = nullptr;
    const double value = std::strtod(word.c_str(), &end);
    const bool isReal = end != word.c_str() && *end == '\0' && value >= 0 && value < 1e6;
    return isReal ? std::optional(static_cast<uint32_t>(value * 1000)) : std::nullopt;
}

/** Parses the content of a row, column by column. */
class Row
{
  public:
    /** @param line the row @param cells the row's words @param columns the words' columns */
    Row(const std::string& line, const std::vector<std::string>& cells, const Columns& columns)
        : m_cells(cells), m_columns(columns)
    {
        m_route.row = line;
    }

    /** @return whether the row is understood */
    bool Read()
    {
        return ReadDestination() && ReadNextHop() && ReadMetric() && ReadState();
    }

    /** @return the route; none if the route is not usable */
    std::optional<PrintedRoute> GetRoute() const
    {
        return m_usable ? std::optional(m_route) : std::nullopt;
    }

  private:
    const std::string* Find(Column column) const
    {
        const auto place = std::find(m_columns.begin(), m_columns.end(), column);
        return place == m_columns.end() ? nullptr : &m_cells[place - m_columns.begin()];
    }

    bool ReadDestination()
    {
        const std::string& text = *Find(Column::DESTINATION);
        const std::string* mask = Find(Column::MASK);
        const size_t slash = text.find('/');
        const bool isDefault = text == "default" || text == "Default";
        const auto address =
            isDefault ? std::optional(FamilyOf()) : TryAddress(text.substr(0, slash));
        if (!address)
        {
            return false;
        }
        std::optional<int> length = isDefault ? 0 : address->Length() * 8;
        if (slash != std::string::npos)
        {
            length = MaskLength(text.substr(slash), address->family);
        }
        else if (mask)
        {
            length = MaskLength(*mask, address->family);
        }
        if (!length)
        {
            return false;
        }
        m_route.destination = IpPrefix{*address, *length}.Network();
        return true;
    }

    /** @return the unspecified address of the next hop's family, for the destination "default" */
    IpAddress FamilyOf() const
    {
        const std::string* hop = Find(Column::NEXT_HOP);
        const auto address = hop ? TryAddress(*hop) : std::nullopt;
        return {address ? address->family : Family::kIpv4, {}};
    }

    bool ReadNextHop()
    {
        static const std::set<std::string> ON_LINK{
            "-", "*", "direct", "local", "onlink", "connected", "none", "link"};
        const Family family = m_route.destination.address.family;
        m_route.gateway = {family, {}};
        if (const std::string* text = Find(Column::INTERFACE))
        {
            m_route.interface = *text;
        }
        const std::string* text = Find(Column::NEXT_HOP);
        if (!text || *text == "-" || *text == "*" || ON_LINK.contains(Plain(*text)))
        {
            return true;
        }
        const auto address = TryAddress(*text);
        if (!address || address->family != family)
        {
            return false;
        }
        m_route.gateway = *address;
        return true;
    }

    bool ReadMetric()
    {
        const std::string* text = Find(Column::METRIC);
        text = text ? text : Find(Column::HOPS);
        const auto metric = text ? Metric(*text) : 0;
        if (!metric)
        {
            return false;
        }
        m_route.metric = *metric;
        m_usable &= *metric != std::numeric_limits<uint32_t>::max();
        return true;
    }

    bool ReadState()
    {
        if (const std::string* sequence = Find(Column::SEQUENCE))
        {
            if (!IsNumber(*sequence))
            {
                return false;
            }
            m_usable &= std::stoul(*sequence) % 2 == 0;
        }
        const std::string* text = Find(Column::STATE);
        const auto isUp = text ? IsUp(*text) : true;
        m_usable &= isUp.value_or(false);
        return isUp.has_value();
    }

    const std::vector<std::string>& m_cells; //!< the row's words
    const Columns& m_columns;                //!< the words' columns
    PrintedRoute m_route;                    //!< the route parsed so far
    bool m_usable{true};                     //!< whether the route may be used
};

/** @return whether a line is a title of a protocol that prints no header over an empty table */
bool
IsKnownTitle(const std::string& line)
{
    static constexpr std::array TITLES{"Ipv4StaticRouting table",
                                       "Ipv6StaticRouting table",
                                       "Ipv4GlobalRouting table",
                                       "Ipv6GlobalRouting table",
                                       "IPv4 RIP table",
                                       "IPv6 RIPng table",
                                       "OLSR Routing table",
                                       "DSDV Routing table",
                                       "AODV Routing table"};
    return std::any_of(TITLES.begin(), TITLES.end(), [&](const char* title) {
        return line.find(title) != std::string::npos;
    });
}

bool
IsMirrored(const PrintedRoute& route)
{
    const IpAddress& address = route.destination.address;
    const bool broadcast = address.family == Family::kIpv4 && route.destination.length == 32 &&
                           address == IpAddress::FromIpv4(0xffffffff);
    return !viaduct::wire::IsLoopback(address) && !broadcast && !address.IsMulticast();
}

/** Adds the route of a line below a header to @p table. */
void
ReadRow(const std::string& line, const Columns& columns, PrintedTable& table)
{
    const auto words = Words(SeparateIpv6(line));
    const bool isDefault = words[0] == "default" || words[0] == "Default";
    if (!isDefault && std::none_of(words.begin(), words.end(), IsAddress))
    {
        return; // not a route: a separator line under the header, or a total at the end
    }
    const auto cells = Cells(words, columns);
    std::optional<Row> row;
    if (cells)
    {
        row.emplace(line, *cells, columns);
    }
    if (!row || !row->Read())
    {
        table.misunderstood = table.misunderstood.empty() ? line : table.misunderstood;
        return;
    }
    const auto route = row->GetRoute();
    if (route && IsMirrored(*route))
    {
        table.routes.push_back(*route);
    }
}

} // namespace

PrintedTable
ParseRoutingTable(const std::string& text)
{
    PrintedTable table;
    Columns columns;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);)
    {
        const auto words = Words(line);
        if (words.empty())
        {
            continue;
        }
        // The title of a table: "Node: 0, Time: +1s, Local time: +1s, Ipv4StaticRouting table"
        if (words[0] == "Node:")
        {
            table.recognized |= IsKnownTitle(line);
            columns.clear();
            continue;
        }
        if (const Columns header = ReadHeader(words); !header.empty())
        {
            table.recognized = true;
            columns = header;
            continue;
        }
        if (!columns.empty())
        {
            ReadRow(line, columns, table);
        }
        else if (IsAddress(words[0]) && table.misunderstood.empty())
        {
            table.misunderstood = line; // apparently a route, but without a header
        }
    }
    return table;
}

} // namespace ns3
