/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_SIM_RBRIDGES_H
#define VIADUCT_SIM_RBRIDGES_H

#include "frame-nodes.h"
#include "network.h"

#include "ns3/rbridge.h"

#include "base/result/run.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ns3::sim
{

/** Gives devices of RBridges room for encapsulated frames on links where these are.
 * @param scenario a scenario with RBridges
 * @param link one of its links, with its devices
 */
void SetMtus(const viaduct::scenario::Scenario& scenario, const NetworkLink& link);

/** Makes the nodes that are not hosts RBridges.
 * @param scenario a scenario with RBridges
 * @param network its nodes and links
 * @throw viaduct::UsageError naming the attributes that there are not
 */
void InstallRBridges(const viaduct::scenario::Scenario& scenario, const Network& network);

/** Adds the frames that RBridges have dropped; not those that another RBridge of a link takes.
 * @param network the nodes
 * @param [in,out] report gets counters "NODE/rbridge"
 */
void DescribeRBridges(const Network& network, viaduct::result::SimulatorReport& report);

/** Follows frames from RBridge to RBridge, by their tables. A host is where its RBridge is. */
class RBridgeReachability : public FrameReachability
{
  public:
    /**
     * @param scenario a scenario with RBridges
     * @param network its nodes; must outlive this object
     */
    RBridgeReachability(const viaduct::scenario::Scenario& scenario, const Network& network);
    viaduct::result::Convergence Look() const override;

  private:
    /** @return the RBridge that serves a node, or that it is; null: none does yet */
    Ptr<RBridge> ServerOf(size_t node) const;
    bool Reaches(Ptr<RBridge> from, Ptr<RBridge> to) const;

    const viaduct::scenario::Scenario& m_scenario; //!< the scenario
    const Network& m_network;                      //!< the nodes
    std::map<Mac48Address, Ptr<RBridge>> m_byPort; //!< by the addresses of ports
    std::map<std::string, std::vector<std::pair<Ptr<RBridge>, size_t>>>
        m_servers; //!< by host: who could serve it, and on which of its ports
};

} // namespace ns3::sim

#endif // VIADUCT_SIM_RBRIDGES_H
