/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_SIM_NODE_STACKS_H
#define VIADUCT_SIM_NODE_STACKS_H

#include "ns3/sim/network.h"

#include "ns3/object-factory.h"

#include "scenario/scenario.h"

#include <string>
#include <vector>

namespace ns3::sim
{

/**
 * Gives every node of this host its IP stack, ns-3's or a real kernel's, and its routing protocols.
 * @param scenario the scenario
 * @param network its nodes
 * @throw viaduct::UsageError naming the routing settings that ns-3 does not support
 */
void InstallStacks(const viaduct::scenario::Scenario& scenario, const Network& network);

/**
 * @param scenario a scenario in mode simulate
 * @return a sentence for the results, for each node that has kernel settings (`sysctls`) that
 * ns-3's own stack does not have
 */
std::vector<std::string> IgnoredSettings(const viaduct::scenario::Scenario& scenario);

/**
 * @param scenario a scenario
 * @return the factory of the routers' protocol; without a type if there is none on IP's layer
 * @throw viaduct::UsageError naming the type or attribute that does not exist
 */
ObjectFactory ProtocolFactory(const viaduct::scenario::Scenario& scenario);

} // namespace ns3::sim

#endif // VIADUCT_SIM_NODE_STACKS_H
