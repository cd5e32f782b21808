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

/** The simulated form of a scenario's links in mode simulate. */
struct SimulatedLinks
{
    std::set<std::string> plain;          //!< links without a SPEC: ns-3's own channels
    std::vector<std::string> assumptions; //!< assumed values, one sentence each, for the results
};

/** @param scenario the links
 * @return the names of links that are Wi-Fi channels
 */
std::set<std::string> WifiLinksOf(const viaduct::scenario::Scenario& scenario);

/** Sets a rate for links without one, because a simulated link without a rate is infinitely fast: a
 * sender that uses all the capacity would never let time advance. Does nothing in the real modes.
 *
 * @param scenario the links to change
 * @return the links that were plain, and the assumptions
 */
SimulatedLinks AssumeRates(viaduct::scenario::Scenario& scenario);

} // namespace ns3::sim

#endif // VIADUCT_SIM_SIMULATED_LINKS_H
