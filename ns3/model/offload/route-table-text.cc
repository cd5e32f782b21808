/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "route-table-text.h"

#include "base/error.h"
#include "wire/address_scope.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <sstream>

namespace ns3
{
namespace
{

using viaduct::wire::Family;
using viaduct::wire::IpAddress;
using viaduct::wire::IpPrefix;

/** The table formats of ns-3's protocols, distinguished by their header line. */
enum class Format
{
    NONE,
    IPV4, //!< Destination Gateway Genmask Flags Metric Ref Use Iface: static, global, RIP
    IPV6, //!< Destination Next Hop Flag Met Ref Use If: static, global (3.45 on), RIPng
    OLSR, //!< Destination NextHop Interface Distance
    DSDV, //!< Destination Gateway Interface HopCount SeqNum LifeTime SettlingTime
    AODV, //!< Destination Gateway Interface Flag Expire Hops
};

std::vector<std::string>
Words(const std::string& line)
{
    std::istringstream stream(line);
    std::vector<std::string> words;
    for (std::string word; stream >> word;)
    {
        words.push_back(word);
    }
    return words;
}

Format
FormatOf(const std::vector<std::string>& header)
{
    auto has = [&](const char* word) {
        return std::find(header.begin(), header.end(), word) != header.end();
    };
    if (header.empty() || header[0] != "Destination")
    {
        return Format::NONE;
    }
    if (has("Genmask"))
    {
        return Format::IPV4;
    }
    if (has("Next") && has("Hop"))
    {
        return Format::IPV6;
    }
    if (has("NextHop"))
    {
        return Format::OLSR;
    }
    if (has("SeqNum"))
    {
        return Format::DSDV;
    }
    return has("Expire") ? Format::AODV : Format::NONE;
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

uint32_t
Number(const std::string& text)
{
    uint32_t value = 0;
    for (const char c : text)
    {
        if (!std::isdigit(static_cast<unsigned char>(c)))
        {
            return 0; // "-": not implemented by this protocol
        }
        value = value * 10 + static_cast<uint32_t>(c - '0');
    }
    return value;
}

std::optional<int>
MaskLength(const std::string& text)
{
    auto mask = TryAddress(text);
    if (!mask || mask->family != Family::kIpv4)
    {
        return std::nullopt;
    }
    int length = 0;
    while (length < 32 && (mask->bytes[length / 8] & (0x80 >> (length % 8))))
    {
        length++;
    }
    return length;
}

/** @return the words from an index on, as one text: an interface name may contain spaces */
std::string
Rest(const std::vector<std::string>& words, size_t from)
{
    std::string text;
    for (size_t i = from; i < words.size(); i++)
    {
        text += (i > from ? " " : "") + words[i];
    }
    return text;
}

std::optional<PrintedRoute>
Make(const std::optional<IpAddress>& destination,
     const std::optional<IpAddress>& gateway,
     int length)
{
    if (!destination || !gateway || destination->family != gateway->family)
    {
        return std::nullopt;
    }
    PrintedRoute route;
    route.destination = IpPrefix{*destination, length}.Network();
    route.gateway = *gateway;
    return route;
}

std::optional<PrintedRoute>
ParseIpv4(const std::vector<std::string>& words)
{
    if (words.size() < 8)
    {
        return std::nullopt;
    }
    auto length = MaskLength(words[2]);
    if (!length)
    {
        return std::nullopt;
    }
    auto route = Make(TryAddress(words[0]), TryAddress(words[1]), *length);
    if (route)
    {
        route->metric = Number(words[4]);
        route->interface = Rest(words, 7);
    }
    return route;
}

/**
 * Separates columns that have run together: a destination of more than 30 characters leaves no
 * space before the next hop ("2001:...:7777/64fe80::1"), a next hop of more than 26 none before the
 * flags. Flags begin with "U", which no address contains. If the digits after the slash can be
 * split in several ways, the longest prefix whose host bits are all zero is used.
 * @param line the row
 * @return its words, at least eight if it can be parsed
 */
std::vector<std::string>
SeparateIpv6(const std::string& line)
{
    std::string text = line;
    const size_t slash = text.find('/');
    if (slash == std::string::npos)
    {
        return {};
    }
    const size_t flags = text.find('U', slash);
    if (flags != std::string::npos && flags > 0 && text[flags - 1] != ' ')
    {
        text.insert(flags, " ");
    }
    const size_t column = text.find(' ', slash);
    const size_t end = column == std::string::npos ? text.size() : column;
    if (text.find(':', slash) > end)
    {
        return Words(text);
    }
    auto destination = TryAddress(text.substr(0, slash));
    for (size_t digits = 3; destination && digits > 0; digits--)
    {
        const std::string number = text.substr(slash + 1, digits);
        const int length = static_cast<int>(Number(number));
        const size_t cut = slash + 1 + digits;
        if (!std::all_of(number.begin(), number.end(), ::isdigit) || length > 128 || cut >= end ||
            !TryAddress(text.substr(cut, end - cut)))
        {
            continue;
        }
        if (IpPrefix{*destination, length}.Network().address == *destination)
        {
            text.insert(cut, " ");
            return Words(text);
        }
    }
    return {};
}

std::optional<PrintedRoute>
ParseIpv6(const std::string& line)
{
    const auto words = SeparateIpv6(line);
    if (words.size() < 7)
    {
        return std::nullopt;
    }
    const size_t slash = words[0].find('/');
    const int length = static_cast<int>(Number(words[0].substr(slash + 1)));
    auto route = Make(TryAddress(words[0].substr(0, slash)), TryAddress(words[1]), length);
    if (route)
    {
        route->metric = Number(words[3]);
        route->interface = Rest(words, 6);
    }
    return route;
}

/** Host routes: OLSR, DSDV, AODV. @return nothing if the entry is not in use */
std::optional<PrintedRoute>
ParseHost(Format format, const std::vector<std::string>& words)
{
    const size_t needed = format == Format::OLSR ? 4 : 6;
    if (words.size() < needed)
    {
        return std::nullopt;
    }
    auto route = Make(TryAddress(words[0]), TryAddress(words[1]), 32);
    if (!route)
    {
        return std::nullopt;
    }
    route->interface = words[2];
    switch (format)
    {
    case Format::OLSR:
        // A device name may contain spaces; the distance is the last word.
        route->interface = Rest({words.begin(), words.end() - 1}, 2);
        route->metric = Number(words.back());
        return route;
    case Format::DSDV:
        route->metric = Number(words[3]);
        return Number(words[4]) % 2 == 0 ? route : std::nullopt;
    default:
        route->metric = Number(words.back());
        return words[3] == "UP" ? route : std::nullopt;
    }
}

/** @return whether a title line is that of a protocol whose format is known */
bool
IsKnownTitle(const std::string& line)
{
    static const char* const titles[] = {"Ipv4StaticRouting table",
                                         "Ipv6StaticRouting table",
                                         "Ipv4GlobalRouting table",
                                         "Ipv6GlobalRouting table",
                                         "IPv4 RIP table",
                                         "IPv6 RIPng table",
                                         "OLSR Routing table",
                                         "DSDV Routing table",
                                         "AODV Routing table"};
    return std::any_of(std::begin(titles), std::end(titles), [&](const char* title) {
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

} // namespace

PrintedTable
ParseRoutingTable(const std::string& text)
{
    PrintedTable table;
    Format format = Format::NONE;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);)
    {
        const auto words = Words(line);
        if (words.empty())
        {
            format = Format::NONE;
            continue;
        }
        // "Node: 0, Time: +1s, Local time: +1s, Ipv4StaticRouting table"; an empty table has no
        // header below it.
        if (words[0] == "Node:")
        {
            table.recognized |= IsKnownTitle(line);
            format = Format::NONE;
            continue;
        }
        if (words[0] == "Destination")
        {
            format = FormatOf(words);
            table.recognized |= format != Format::NONE;
            continue;
        }
        std::optional<PrintedRoute> route;
        switch (format)
        {
        case Format::NONE:
            break;
        case Format::IPV4:
            route = ParseIpv4(words);
            break;
        case Format::IPV6:
            route = ParseIpv6(line);
            break;
        default:
            route = ParseHost(format, words);
        }
        if (route && IsMirrored(*route))
        {
            table.routes.push_back(*route);
        }
    }
    return table;
}

} // namespace ns3
