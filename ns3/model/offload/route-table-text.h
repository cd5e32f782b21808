/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_ROUTE_TABLE_TEXT_H
#define VIADUCT_ROUTE_TABLE_TEXT_H

#include "wire/address.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3
{

/**
 * @ingroup viaduct
 * A unicast route as a routing protocol prints it.
 */
struct PrintedRoute
{
    viaduct::wire::IpPrefix destination; //!< network; host bits zero
    viaduct::wire::IpAddress gateway;    //!< unspecified, or equal to the destination: on link
    std::string interface;               //!< interface index, device name or local address
    uint32_t metric{0};                  //!< metric, hops or distance; lower is better
};

/**
 * @ingroup viaduct
 * The parsed content of a printed routing table.
 */
struct PrintedTable
{
    bool recognized{false};           //!< at least one known table was found, even if empty
    std::vector<PrintedRoute> routes; //!< in the order printed
};

/**
 * @ingroup viaduct
 * Reads what Ipv4RoutingProtocol::PrintRoutingTable() and Ipv6RoutingProtocol::PrintRoutingTable()
 * of ns-3's protocols write (3.44 to 3.48): static, global, RIP, RIPng, OLSR with its HNA table,
 * DSDV, AODV, and lists of them. Entries that are not usable (AODV: not UP; DSDV: odd sequence
 * number, an infinite metric) and multicast and loopback destinations are left out.
 * @param text the printed table
 * @return the routes; nothing recognized if no known header was found
 */
PrintedTable ParseRoutingTable(const std::string& text);

} // namespace ns3

#endif // VIADUCT_ROUTE_TABLE_TEXT_H
