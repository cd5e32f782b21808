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

/** Puts the nodes that have a place where the scenario places them, and lets the nodes move that a
 * model moves.
 * @param scenario the nodes and links
 * @param nodes its nodes, in its order
 * @throw viaduct::UsageError naming a model or attribute that ns-3 does not have, or a place
 * outside of the model's area
 */
void PlaceNodes(const viaduct::scenario::Scenario& scenario, const NodeContainer& nodes);

/** Moves the nodes with waypoints along them, at times that count from this call.
 * @param scenario the waypoints
 * @param nodes its nodes, in its order, which PlaceNodes() has placed
 */
void MoveAlongWaypoints(const viaduct::scenario::Scenario& scenario, const NodeContainer& nodes);

/** @param scenario the nodes
 * @param nodes its nodes, in its order
 * @return the present places of nodes that have one, by name: x, y, z in m
 */
std::map<std::string, std::vector<double>> PlacesOf(const viaduct::scenario::Scenario& scenario,
                                                    const NodeContainer& nodes);

/** @param one a node that has a place
 * @param other another such node
 * @return the present distance between them, m
 */
double DistanceBetween(Ptr<Node> one, Ptr<Node> other);

} // namespace ns3::sim

#endif // VIADUCT_SIM_PLACEMENT_H
