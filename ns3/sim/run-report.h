/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_SIM_RUN_REPORT_H
#define VIADUCT_SIM_RUN_REPORT_H

#include "ns3/sim/network.h"

#include "ns3/offload/lab-helper.h"
#include "ns3/reactor/reactor-simulator-impl.h"

#include "base/result/run.h"

#include <map>
#include <optional>
#include <string>

namespace ns3::sim
{

/** @return the version of the ns-3 that this build is for */
std::string VersionOfNs3();
/** @return whether the ns-3 of this build has assertions and logging */
std::string BuildOfNs3();

/** Makes the report of the simulator's own measurements: the lateness of its events and its use of
 * time, if it follows real time, and for a lab the counters of devices and of the kernels' route
 * tables.
 *
 * @param lab the lab; null in mode simulate
 * @return the report, without the members that only mode simulate has
 */
viaduct::result::SimulatorReport MakeReport(const LabHelper* lab);

/**
 * @param reactor the simulator
 * @return seconds by activity of its loop (viaduct::result::SimulatorReport::loop)
 */
std::map<std::string, double> LoopTimes(const ReactorSimulatorImpl& reactor);

/**
 * @param network the nodes
 * @return the effects of the links of mode simulate that have a SPEC on packets; nothing if there
 * are no such links
 */
std::optional<viaduct::result::EngineResult> MakeLinkReport(const Network& network);

} // namespace ns3::sim

#endif // VIADUCT_SIM_RUN_REPORT_H
