/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_SIM_SCENARIO_LAB_H
#define VIADUCT_SIM_SCENARIO_LAB_H

#include "hub-service.h"
#include "network.h"

#include "ns3/lab-helper.h"

#include "scenario/scenario.h"

#include <memory>
#include <optional>
#include <string>

namespace ns3::sim
{

/** What is built of a scenario's lab, and how. */
struct LabPart
{
    bool live{false};              //!< SPECs may change at any time
    bool adopts{false};            //!< the lab of a simulator that has died
    std::string host;              //!< whose part it is; empty: the whole lab
    std::optional<HubOptions> hub; //!< where clients of remote nodes send to
};

/**
 * Builds the lab of a real mode.
 * @param scenario what was asked for
 * @param network its nodes
 * @param part what is built of it
 * @return the lab, which lives as long as this object
 * @throw viaduct::Error
 */
std::unique_ptr<LabHelper> BuildLab(const viaduct::scenario::Scenario& scenario,
                                    const Network& network,
                                    const LabPart& part);

} // namespace ns3::sim

#endif // VIADUCT_SIM_SCENARIO_LAB_H
