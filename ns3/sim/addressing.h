/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_SIM_ADDRESSING_H
#define VIADUCT_SIM_ADDRESSING_H

#include "ns3/sim/network.h"

namespace ns3::sim
{

/**
 * Gives the devices of this host's nodes their addresses, and the nodes their own addresses.
 * @param scenario the nodes
 * @param network all links
 */
void AssignAddresses(const viaduct::scenario::Scenario& scenario, const Network& network);

/**
 * Gives hosts their default routes, and informs routers' protocols which links have only hosts.
 * @param scenario the scenario, which states which nodes are hosts
 * @param network the nodes, with addresses
 */
void RouteHosts(const viaduct::scenario::Scenario& scenario, const Network& network);

/**
 * Gives routers the shortest routes to all links, instead of a protocol's routes.
 * @param scenario the nodes and links
 * @param network the same nodes and links, with addresses
 */
void AddStaticRoutes(const viaduct::scenario::Scenario& scenario, const Network& network);

/**
 * Adds the scenario's routes to multicast groups to the static routes of its nodes; in mode
 * simulate also the routes by which flows to groups leave their senders. In the real modes the
 * flows' programs choose the interface.
 * @param scenario the routes and flows
 * @param network its nodes, with addresses
 */
void AddMulticastRoutes(const viaduct::scenario::Scenario& scenario, const Network& network);

} // namespace ns3::sim

#endif // VIADUCT_SIM_ADDRESSING_H
