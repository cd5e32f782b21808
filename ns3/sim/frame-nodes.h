/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_SIM_FRAME_NODES_H
#define VIADUCT_SIM_FRAME_NODES_H

#include "ns3/sim/network.h"

#include "base/result/run.h"
#include "scenario/scenario.h"

#include <memory>

namespace ns3::sim
{

/** Computes which nodes reach each other in a network whose nodes forward frames instead of
 * packets. */
class FrameReachability
{
  public:
    virtual ~FrameReachability() = default;
    /** @return the pairs of nodes that reach each other now, and the pairs that do not */
    virtual viaduct::result::Convergence Check() const = 0;
};

/** Creates the FrameReachability of a scenario with nodes that forward frames
 * (viaduct::scenario::FrameNodesOf()).
 * @param scenario the scenario
 * @param network the scenario's nodes; scenario and network must outlive the result
 * @return the object; null if the scenario's nodes are routers
 */
std::unique_ptr<FrameReachability> MakeFrameReachability(
    const viaduct::scenario::Scenario& scenario, const Network& network);

/** Installs RBridges or forwarding programs on the nodes that are not hosts, as the scenario
 * specifies, so that these nodes forward frames.
 * @param scenario a scenario with such nodes
 * @param network the scenario's nodes and links
 * @throw viaduct::UsageError naming a program or a protocol that does not exist
 */
void InstallFrameNodes(const viaduct::scenario::Scenario& scenario, const Network& network);

/** Increases the MTU of devices of nodes that forward frames, because these nodes lengthen frames.
 * @param scenario a scenario with such nodes
 * @param link one of the scenario's links, with its devices
 */
void SetMtusOfFrameNodes(const viaduct::scenario::Scenario& scenario, const NetworkLink& link);

/** Adds to a report the numbers of frames that nodes that forward frames have lost in the
 * simulator.
 * @param network the nodes
 * @param [in,out] report gets counters "NODE/rbridge" or "NODE/program"
 */
void DescribeFrameNodes(const Network& network, viaduct::result::SimulatorReport& report);

} // namespace ns3::sim

#endif // VIADUCT_SIM_FRAME_NODES_H
