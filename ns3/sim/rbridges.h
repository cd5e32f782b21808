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

/** Increases the MTU of the devices of RBridges for encapsulated frames, on links that may carry
 * encapsulated frames.
 * @param scenario a scenario with RBridges
 * @param link one of the scenario's links, with its devices
 */
void SetMtus(const viaduct::scenario::Scenario& scenario, const NetworkLink& link);

/** Installs an RBridge on each node that is not a host.
 * @param scenario a scenario with RBridges
 * @param network the scenario's nodes and links
 * @throw viaduct::UsageError naming the attributes that do not exist
 */
void InstallRBridges(const viaduct::scenario::Scenario& scenario, const Network& network);

/** Adds to a report the numbers of frames that RBridges have dropped, except frames that another
 * RBridge on the link forwards.
 * @param network the nodes
 * @param [in,out] report gets counters "NODE/rbridge"
 */
void DescribeRBridges(const Network& network, viaduct::result::SimulatorReport& report);

/** Computes which nodes reach each other, by following the RBridges' forwarding tables from RBridge
 * to RBridge. A host reaches the same nodes as the RBridge that serves it. */
class RBridgeReachability : public FrameReachability
{
  public:
    /**
     * @param scenario a scenario with RBridges
     * @param network the scenario's nodes; must outlive this object
     */
    RBridgeReachability(const viaduct::scenario::Scenario& scenario, const Network& network);
    viaduct::result::Convergence Check() const override;

  private:
    /** @return the RBridge of a node, or the RBridge that serves a host; null: no RBridge serves
     * the host yet */
    Ptr<RBridge> ServerOf(size_t node) const;
    bool Reaches(Ptr<RBridge> from, Ptr<RBridge> to) const;

    const viaduct::scenario::Scenario& m_scenario; //!< the scenario
    const Network& m_network;                      //!< the nodes
    /** The RBridges, by the MAC address of each of their ports. */
    std::map<Mac48Address, Ptr<RBridge>> m_byPort;
    std::map<std::string, std::vector<std::pair<Ptr<RBridge>, size_t>>>
        /** The RBridges on each node's links, which may serve the node, and their ports; key: the
         * node's name. */
        m_servers;
};

} // namespace ns3::sim

#endif // VIADUCT_SIM_RBRIDGES_H
