/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_SIM_SIMULATED_LINKS_H
#define VIADUCT_SIM_SIMULATED_LINKS_H

#include "scenario/scenario.h"

#include <set>
#include <string>
#include <vector>

namespace ns3
{
namespace sim
{

/** What a scenario's links become in mode simulate. */
struct SimulatedLinks
{
    std::set<std::string> plain;          //!< links without a SPEC: ns-3's own channels
    std::vector<std::string> assumptions; //!< what was filled in, a sentence each, for the results
};

/**
 * Gives links without a rate one, because a simulated link without a rate is infinitely fast: a
 * sender that takes what it gets would never let time go on. Does nothing in the real modes.
 *
 * @param scenario the links to change
 * @return what they were, and what was assumed
 */
SimulatedLinks AssumeRates(viaduct::scenario::Scenario& scenario);

} // namespace sim
} // namespace ns3

#endif // VIADUCT_SIM_SIMULATED_LINKS_H
