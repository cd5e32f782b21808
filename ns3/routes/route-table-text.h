/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_ROUTE_TABLE_TEXT_H
#define VIADUCT_ROUTE_TABLE_TEXT_H

#include "base/wire/address.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3
{

/**
 * @ingroup viaduct
 * A unicast route as printed by a routing protocol.
 */
struct PrintedRoute
{
    viaduct::wire::IpPrefix destination; //!< network; host bits zero
    viaduct::wire::IpAddress gateway;    //!< next hop; unspecified or the destination: on link
    std::string interface; //!< interface index, device name or local address; empty: not printed
    uint32_t metric{0};    //!< metric, hops or distance; lower is better
    std::string row;       //!< the row as printed, for messages
};

/**
 * @ingroup viaduct
 * The parsed content of a printed routing table.
 */
struct PrintedTable
{
    bool recognized{false};           //!< whether a table was found, even if empty
    std::vector<PrintedRoute> routes; //!< routes in the printed order
    std::string misunderstood;        //!< the first row that is not understood; empty: none
};

/**
 * @ingroup viaduct
 * Parses the output of Ipv4RoutingProtocol::PrintRoutingTable() and
 * Ipv6RoutingProtocol::PrintRoutingTable(): tables of ns-3's protocols (3.44 to 3.48), and any
 * further table with a header line that names its columns.
 *
 * The columns are found by their names, in any letter case, order and number: the destination, the
 * destination's mask or prefix length (or a prefix length after the destination and a slash), the
 * next hop, the interface, a metric, and a flag or state. Columns of other names are skipped. If a
 * row has more words than the header has columns, the interface's name contains spaces.
 *
 * Entries that are not usable (a state other than up, DSDV's odd sequence numbers, a metric of
 * infinity) and entries for multicast, broadcast and loopback destinations are understood, but
 * omitted.
 * @param text the printed table
 * @return the routes; `recognized` is false if no header was found
 */
PrintedTable ParseRoutingTable(const std::string& text);

} // namespace ns3

#endif // VIADUCT_ROUTE_TABLE_TEXT_H
