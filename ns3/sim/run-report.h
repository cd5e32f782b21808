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

/** @return the version of ns-3 for which this program was built */
std::string VersionOfNs3();
/** @return a text that states whether ns-3 was built with assertions and with logging */
std::string BuildOfNs3();

/** Creates the report of the simulator's own measurements: if the simulator follows real time, the
 * lateness of events and the times of the event loop's activities; for a lab, the counters of
 * devices and of the kernels' route tables.
 *
 * @param lab the lab; null in mode simulate
 * @return the report, without the members that are only for mode simulate
 */
viaduct::result::SimulatorReport MakeReport(const LabHelper* lab);

/**
 * @param reactor the simulator
 * @return the time that the event loop has spent in each activity, in s, by activity
 * (viaduct::result::SimulatorReport::loop)
 */
std::map<std::string, double> LoopTimes(const ReactorSimulatorImpl& reactor);

/**
 * @param network the nodes
 * @return the statistics of the links with a SPEC in mode simulate; nothing if no link has a SPEC
 */
std::optional<viaduct::result::EngineResult> MakeLinkReport(const Network& network);

} // namespace ns3::sim

#endif // VIADUCT_SIM_RUN_REPORT_H
