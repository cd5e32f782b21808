/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_SIM_FRAME_NODES_H
#define VIADUCT_SIM_FRAME_NODES_H

#include "network.h"

#include "base/result/run.h"
#include "scenario/scenario.h"

#include <memory>

namespace ns3::sim
{

/** Which nodes reach which, where frames are forwarded, not packets. */
class FrameReachability
{
  public:
    virtual ~FrameReachability() = default;
    /** @return the pairs of nodes that reach each other now, and those that do not */
    virtual viaduct::result::Convergence Look() const = 0;
};

/** Of a scenario with nodes that forward frames (viaduct::scenario::FrameNodesOf()).
 * @param scenario the scenario
 * @param network its nodes; both must outlive the result
 * @return null if its nodes are routers
 */
std::unique_ptr<FrameReachability> MakeFrameReachability(
    const viaduct::scenario::Scenario& scenario, const Network& network);

/** Lets the nodes that are not hosts forward frames, as the scenario says.
 * @param scenario a scenario with such nodes
 * @param network its nodes and links
 * @throw viaduct::UsageError naming a program or a protocol that there is not
 */
void InstallFrameNodes(const viaduct::scenario::Scenario& scenario, const Network& network);

/** Gives devices of nodes that forward frames room for those that they make longer.
 * @param scenario a scenario with such nodes
 * @param link one of its links, with its devices
 */
void SetMtusOfFrameNodes(const viaduct::scenario::Scenario& scenario, const NetworkLink& link);

/** Adds the frames that such nodes have lost in the simulator.
 * @param network the nodes
 * @param [in,out] report gets counters "NODE/rbridge" or "NODE/program"
 */
void DescribeFrameNodes(const Network& network, viaduct::result::SimulatorReport& report);

} // namespace ns3::sim

#endif // VIADUCT_SIM_FRAME_NODES_H
