/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/routes/route-table-columns.h"

#include <algorithm>
#include <cctype>
#include <map>

namespace ns3::routetable
{
namespace
{

Column
ColumnOf(const std::string& name)
{
    static const std::map<std::string, Column> KNOWN{
        {"destination", Column::DESTINATION},
        {"destinationaddress", Column::DESTINATION},
        {"destinationnetwork", Column::DESTINATION},
        {"destaddress", Column::DESTINATION},
        {"destaddr", Column::DESTINATION},
        {"dest", Column::DESTINATION},
        {"dst", Column::DESTINATION},
        {"dstaddr", Column::DESTINATION},
        {"target", Column::DESTINATION},
        {"mask", Column::MASK},
        {"genmask", Column::MASK},
        {"netmask", Column::MASK},
        {"networkmask", Column::MASK},
        {"subnetmask", Column::MASK},
        {"destmask", Column::MASK},
        {"destinationmask", Column::MASK},
        {"prefix", Column::MASK},
        {"prefixlen", Column::MASK},
        {"prefixlength", Column::MASK},
        {"plen", Column::MASK},
        {"gateway", Column::NEXT_HOP},
        {"gw", Column::NEXT_HOP},
        {"nexthop", Column::NEXT_HOP},
        {"nexthopaddress", Column::NEXT_HOP},
        {"nexthopaddr", Column::NEXT_HOP},
        {"nextaddress", Column::NEXT_HOP},
        {"nextaddr", Column::NEXT_HOP},
        {"nextnode", Column::NEXT_HOP},
        {"next", Column::NEXT_HOP},
        {"via", Column::NEXT_HOP},
        {"interface", Column::INTERFACE},
        {"iface", Column::INTERFACE},
        {"intf", Column::INTERFACE},
        {"if", Column::INTERFACE},
        {"ifindex", Column::INTERFACE},
        {"oif", Column::INTERFACE},
        {"outinterface", Column::INTERFACE},
        {"outputinterface", Column::INTERFACE},
        {"outgoinginterface", Column::INTERFACE},
        {"localinterface", Column::INTERFACE},
        {"dev", Column::INTERFACE},
        {"device", Column::INTERFACE},
        {"outputdevice", Column::INTERFACE},
        {"metric", Column::METRIC},
        {"met", Column::METRIC},
        {"cost", Column::METRIC},
        {"distance", Column::HOPS},
        {"dist", Column::HOPS},
        {"hopcount", Column::HOPS},
        {"hopcnt", Column::HOPS},
        {"hops", Column::HOPS},
        {"flag", Column::STATE},
        {"flags", Column::STATE},
        {"state", Column::STATE},
        {"status", Column::STATE},
        {"valid", Column::STATE},
        {"seqnum", Column::SEQUENCE},
    };
    const auto known = KNOWN.find(name);
    return known == KNOWN.end() ? Column::SKIPPED : known->second;
}

/** Returns the columns of a header. A name of two words ("Next Hop") is one column. */
Columns
ColumnsOf(const std::vector<std::string>& header)
{
    Columns columns;
    for (size_t i = 0; i < header.size(); i++)
    {
        const std::string next = i + 1 < header.size() ? Plain(header[i + 1]) : "";
        const Column alone = ColumnOf(Plain(header[i]));
        const Column both = next.empty() ? Column::SKIPPED : ColumnOf(Plain(header[i]) + next);
        // Two words name two columns if each of them is a column's name, as in "Destination Mask".
        const bool areTwo = alone != Column::SKIPPED && ColumnOf(next) != Column::SKIPPED;
        const bool isOfTwo = both != Column::SKIPPED && !areTwo;
        const Column column = isOfTwo ? both : alone;
        i += isOfTwo ? 1 : 0;
        // If two columns are of one kind, only the first is used, such as "Hops" before "MaxHops".
        const bool isNew = std::find(columns.begin(), columns.end(), column) == columns.end();
        columns.push_back(isNew ? column : Column::SKIPPED);
    }
    return columns;
}

bool
Has(const Columns& columns, Column column)
{
    return std::find(columns.begin(), columns.end(), column) != columns.end();
}

/** Makes a column "Network" or "Prefix" the destination if no column is called "Destination". */
void
NameDestination(Columns& columns, const std::vector<std::string>& header)
{
    for (size_t i = 0; i < columns.size() && columns.size() == header.size(); i++)
    {
        const std::string name = Plain(header[i]);
        if (!Has(columns, Column::DESTINATION) && (name == "network" || name == "prefix"))
        {
            columns[i] = Column::DESTINATION;
        }
    }
}

} // namespace

std::string
Plain(const std::string& word)
{
    std::string plain;
    for (const char c : word.substr(0, word.find('(')))
    {
        if (std::isalnum(static_cast<unsigned char>(c)))
        {
            plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        }
    }
    return plain;
}

Columns
ReadHeader(const std::vector<std::string>& words)
{
    Columns columns = ColumnsOf(words);
    NameDestination(columns, words);
    // Only in DSDV does a sequence number describe the state of a route.
    const bool isDsdv = std::any_of(words.begin(), words.end(), [](const std::string& word) {
        return Plain(word) == "settlingtime";
    });
    if (!isDsdv)
    {
        std::replace(columns.begin(), columns.end(), Column::SEQUENCE, Column::SKIPPED);
    }
    const bool isTable = Has(columns, Column::DESTINATION) &&
                         (Has(columns, Column::NEXT_HOP) || Has(columns, Column::INTERFACE));
    return isTable ? columns : Columns();
}

} // namespace ns3::routetable
