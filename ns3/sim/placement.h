/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_SIM_PLACEMENT_H
#define VIADUCT_SIM_PLACEMENT_H

#include "ns3/node-container.h"

#include "scenario/scenario.h"

#include <map>
#include <string>
#include <vector>

namespace ns3::sim
{

/** Places the nodes that have a place as the scenario specifies, and starts the models that move
 * nodes.
 * @param scenario the nodes and links
 * @param nodes the scenario's nodes, in the scenario's order
 * @throw viaduct::UsageError naming a model or attribute that ns-3 does not have, or a place
 * outside the area of its node's mobility model
 */
void PlaceNodes(const viaduct::scenario::Scenario& scenario, const NodeContainer& nodes);

/** Schedules the motion of the nodes that have waypoints along their waypoints, whose times count
 * from this call.
 * @param scenario the waypoints
 * @param nodes the scenario's nodes in the scenario's order, which PlaceNodes() has placed
 */
void MoveAlongWaypoints(const viaduct::scenario::Scenario& scenario, const NodeContainer& nodes);

/** @param scenario the nodes
 * @param nodes the scenario's nodes, in the scenario's order
 * @return the current places of the nodes that have a place, by the node's name: x, y, z in m
 */
std::map<std::string, std::vector<double>> PlacesOf(const viaduct::scenario::Scenario& scenario,
                                                    const NodeContainer& nodes);

/** @param one a node that has a place
 * @param other another node that has a place
 * @return the current distance between the two nodes, m
 */
double DistanceBetween(Ptr<Node> one, Ptr<Node> other);

} // namespace ns3::sim

#endif // VIADUCT_SIM_PLACEMENT_H
