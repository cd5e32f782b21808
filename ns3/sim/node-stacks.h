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
 * Installs the IP stack, ns-3's or a real kernel's, and the routing protocols of every node on this
 * machine.
 * @param scenario the scenario
 * @param network the scenario's nodes
 * @throw viaduct::UsageError naming the routing settings that ns-3 does not support
 */
void InstallStacks(const viaduct::scenario::Scenario& scenario, const Network& network);

/**
 * @param scenario a scenario in mode simulate
 * @return sentences for the results, one for each node whose kernel settings (`sysctls`) are
 * ignored because ns-3's own stack does not have them
 */
std::vector<std::string> IgnoredSettings(const viaduct::scenario::Scenario& scenario);

/**
 * @param scenario a scenario
 * @return the factory of the routers' protocol; a factory without a type if the scenario has no
 * protocol that routes IP packets
 * @throw viaduct::UsageError naming a type or attribute that does not exist
 */
ObjectFactory ProtocolFactory(const viaduct::scenario::Scenario& scenario);

} // namespace ns3::sim

#endif // VIADUCT_SIM_NODE_STACKS_H
