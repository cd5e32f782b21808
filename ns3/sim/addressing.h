/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_SIM_ADDRESSING_H
#define VIADUCT_SIM_ADDRESSING_H

#include "ns3/sim/network.h"

namespace ns3::sim
{

/**
 * Assigns addresses to the devices of this machine's nodes, and the nodes' own addresses to their
 * loopback interfaces.
 * @param scenario the nodes
 * @param network all links
 */
void AssignAddresses(const viaduct::scenario::Scenario& scenario, const Network& network);

/**
 * Adds the default routes of the hosts, and configures the routers' routing protocols for links
 * that have only hosts.
 * @param scenario the scenario, which states which nodes are hosts
 * @param network the nodes, to which addresses have been assigned
 */
void RouteHosts(const viaduct::scenario::Scenario& scenario, const Network& network);

/**
 * Adds the shortest routes to all links to the routers' static routes, instead of a routing
 * protocol's routes.
 * @param scenario the nodes and links
 * @param network the scenario's nodes and links, with addresses
 */
void AddStaticRoutes(const viaduct::scenario::Scenario& scenario, const Network& network);

/**
 * Adds the scenario's routes to multicast groups to the static routes of its nodes; in mode
 * simulate also the senders' routes to the groups of flows. In the real modes the flows' programs
 * choose the interface.
 * @param scenario the routes and flows
 * @param network the scenario's nodes, with addresses
 */
void AddMulticastRoutes(const viaduct::scenario::Scenario& scenario, const Network& network);

} // namespace ns3::sim

#endif // VIADUCT_SIM_ADDRESSING_H
