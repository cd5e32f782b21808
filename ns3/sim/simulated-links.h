/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_SIM_SIMULATED_LINKS_H
#define VIADUCT_SIM_SIMULATED_LINKS_H

#include "scenario/scenario.h"

#include <set>
#include <string>
#include <vector>

namespace ns3::sim
{

/** The differences between a scenario's links and their simulation in mode simulate. */
struct SimulatedLinks
{
    /** Names of links without a SPEC and of Wi-Fi links, which are ns-3's own channels. */
    std::set<std::string> plain;
    std::vector<std::string> assumptions; //!< sentences for the results, one for each assumed value
};

/** @param scenario the scenario with the links
 * @return the names of links that are Wi-Fi channels
 */
std::set<std::string> WifiLinksOf(const viaduct::scenario::Scenario& scenario);

/** Mode simulate: sets a rate for links without a rate. A simulated link without a rate would be
 * infinitely fast, so that time would never advance while a sender uses all the capacity. Does
 * nothing in the real modes.
 *
 * @param [in,out] scenario the scenario with the links to change
 * @return the links that were plain wires or are Wi-Fi channels, and the assumptions
 */
SimulatedLinks AssumeRates(viaduct::scenario::Scenario& scenario);

} // namespace ns3::sim

#endif // VIADUCT_SIM_SIMULATED_LINKS_H
