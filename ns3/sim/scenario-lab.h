/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_SIM_SCENARIO_LAB_H
#define VIADUCT_SIM_SCENARIO_LAB_H

#include "ns3/sim/hub-service.h"
#include "ns3/sim/network.h"

#include "ns3/offload/lab-helper.h"

#include "scenario/scenario.h"

#include <memory>
#include <optional>
#include <string>

namespace ns3::sim
{

/** The part of a scenario's lab that this simulator builds, and the lab's options. */
struct LabPart
{
    bool live{false};   //!< whether SPECs may change at any time
    bool adopts{false}; //!< whether to take over the lab of a failed simulator
    std::string host;   //!< the machine on which the part is; empty: the part is the complete lab
    std::optional<HubOptions> hub; //!< the hub to which clients of remote nodes send
};

/**
 * Builds the lab of a real mode.
 * @param scenario the scenario
 * @param network the scenario's nodes
 * @param part the part that is built
 * @return the lab, which exists as long as the returned object
 * @throw viaduct::Error if the lab cannot be built
 */
std::unique_ptr<LabHelper> BuildLab(const viaduct::scenario::Scenario& scenario,
                                    const Network& network,
                                    const LabPart& part);

} // namespace ns3::sim

#endif // VIADUCT_SIM_SCENARIO_LAB_H
