/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_SIM_RBRIDGES_H
#define VIADUCT_SIM_RBRIDGES_H

#include "ns3/sim/frame-nodes.h"
#include "ns3/sim/network.h"

#include "ns3/wmrp/rbridge.h"

#include "base/result/run.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ns3::sim
{

/** Increases the MTU of devices of RBridges for encapsulated frames, on links that carry these.
 * @param scenario a scenario with RBridges
 * @param link one of its links, with its devices
 */
void SetMtus(const viaduct::scenario::Scenario& scenario, const NetworkLink& link);

/** Makes RBridges of the nodes that are not hosts.
 * @param scenario a scenario with RBridges
 * @param network its nodes and links
 * @throw viaduct::UsageError naming the attributes that do not exist
 */
void InstallRBridges(const viaduct::scenario::Scenario& scenario, const Network& network);

/** Adds the frames that RBridges have dropped, except frames that another RBridge of the link
 * takes.
 * @param network the nodes
 * @param [in,out] report gets counters "NODE/rbridge"
 */
void DescribeRBridges(const Network& network, viaduct::result::SimulatorReport& report);

/** Follows frames from RBridge to RBridge, by their tables. A host counts as at its RBridge. */
class RBridgeReachability : public FrameReachability
{
  public:
    /**
     * @param scenario a scenario with RBridges
     * @param network its nodes; must outlive this object
     */
    RBridgeReachability(const viaduct::scenario::Scenario& scenario, const Network& network);
    viaduct::result::Convergence Check() const override;

  private:
    /** @return the RBridge that serves a node, or the RBridge that the node is; null: none serves
     * it yet */
    Ptr<RBridge> ServerOf(size_t node) const;
    bool Reaches(Ptr<RBridge> from, Ptr<RBridge> to) const;

    const viaduct::scenario::Scenario& m_scenario; //!< the scenario
    const Network& m_network;                      //!< the nodes
    std::map<Mac48Address, Ptr<RBridge>> m_byPort; //!< key: a port's address
    std::map<std::string, std::vector<std::pair<Ptr<RBridge>, size_t>>>
        m_servers; //!< key: a host; value: RBridges that could serve it, and their ports
};

} // namespace ns3::sim

#endif // VIADUCT_SIM_RBRIDGES_H
