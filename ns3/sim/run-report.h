/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_SIM_RUN_REPORT_H
#define VIADUCT_SIM_RUN_REPORT_H

#include "ns3/lab-helper.h"

#include "result/run.h"

namespace ns3::sim
{

/** The simulator's own measurements: the lateness of its events and its use of time, if it follows
 * real time, and for a lab the counters of devices and of the kernels' route tables.
 *
 * @param lab the lab; null in mode simulate
 * @return the report, without the members that only mode simulate has
 */
viaduct::result::SimulatorReport MakeReport(const LabHelper* lab);

} // namespace ns3::sim

#endif // VIADUCT_SIM_RUN_REPORT_H
