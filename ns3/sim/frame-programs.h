/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_SIM_FRAME_PROGRAMS_H
#define VIADUCT_SIM_FRAME_PROGRAMS_H

#include "ns3/sim/frame-nodes.h"
#include "ns3/sim/network.h"

#include "base/result/run.h"

#include <map>
#include <string>
#include <vector>

namespace ns3::sim
{

/** Installs, on the nodes that are not hosts, their forwarding programs and the protocol that
 * writes the programs' tables.
 * @param scenario a scenario with forwarding programs
 * @param network the scenario's nodes and links
 * @throw viaduct::UsageError naming a program or a protocol that does not exist
 */
void InstallFramePrograms(const viaduct::scenario::Scenario& scenario, const Network& network);

/** Increases the MTU of devices on links between two programs, for the bytes that programs add to
 * frames.
 * @param scenario a scenario with forwarding programs
 * @param link one of the scenario's links, with its devices
 */
void SetMtusOfPrograms(const viaduct::scenario::Scenario& scenario, const NetworkLink& link);

/** Adds to a report the numbers of frames that forwarding programs have lost in the simulator.
 * @param network the nodes
 * @param [in,out] report gets counters "NODE/program"
 */
void DescribeFramePrograms(const Network& network, viaduct::result::SimulatorReport& report);

/** Computes which nodes reach each other through nodes that are ready (FrameForwarder::IsReady()).
 * Programs of ready nodes are assumed to forward frames between all links of their nodes. */
class ProgramReachability : public FrameReachability
{
  public:
    /**
     * @param scenario a scenario with forwarding programs
     * @param network the scenario's nodes; scenario and network must outlive this object
     */
    ProgramReachability(const viaduct::scenario::Scenario& scenario, const Network& network);
    viaduct::result::Convergence Check() const override;

  private:
    const viaduct::scenario::Scenario& m_scenario; //!< the scenario
    const Network& m_network;                      //!< the nodes
    /** The indices of each node's links, by the node's name. */
    std::map<std::string, std::vector<size_t>> m_links;
};

} // namespace ns3::sim

#endif // VIADUCT_SIM_FRAME_PROGRAMS_H
