/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_SIM_RUN_REPORT_H
#define VIADUCT_SIM_RUN_REPORT_H

#include "ns3/lab-helper.h"

#include "result/run.h"

namespace ns3
{
namespace sim
{

/**
 * What the simulator has measured of itself: how late its events ran and where its time went, if it
 * follows real time, and of a lab what devices and kernels' route tables saw.
 *
 * @param lab the lab; null in mode simulate
 * @return the report, without what only mode simulate has to say
 */
viaduct::result::SimulatorReport MakeReport(const LabHelper* lab);

} // namespace sim
} // namespace ns3

#endif // VIADUCT_SIM_RUN_REPORT_H
