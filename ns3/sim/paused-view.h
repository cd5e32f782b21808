/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_SIM_PAUSED_VIEW_H
#define VIADUCT_SIM_PAUSED_VIEW_H

#include "ns3/sim/network.h"
#include "ns3/sim/reachability.h"
#include "ns3/sim/simulated-traffic.h"

#include "base/result/paused.h"
#include "guest/shell/paused.h"
#include "scenario/scenario.h"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace ns3::sim
{

/**
 * The state of a paused run's nodes and links, for every kind of stack. No virtual time passes
 * while the state is read.
 */
class PausedView
{
  public:
    /**
     * @param scenario the scenario of the run; must outlive this object, as the other arguments
     * must
     * @param network its nodes
     * @param reachability asks for the nodes' routes; null: the nodes are RBridges
     * @param traffic takes links down
     */
    PausedView(const viaduct::scenario::Scenario& scenario,
               const Network& network,
               const Reachability* reachability,
               SimulatedTraffic& traffic);

    /** @return the names of all nodes */
    std::vector<std::string> GetNodes() const;
    /** @return all links, with the names of the interfaces at their ends */
    std::vector<viaduct::guest::PausedLink> GetLinks() const;

    /** Answers a client: {"to": NODE} with a PausedState, which has its `next` if NODE is not
     * empty; {"link": NAME, "up": BOOLEAN} after taking a link down or up, as an event does.
     * @param request the request
     * @return the answer
     * @throw viaduct::UsageError naming an object that does not exist
     */
    nlohmann::json Answer(const nlohmann::json& request);

  private:
    viaduct::result::PausedState Describe(const std::string& to) const;
    viaduct::result::PausedNode Describe(Ptr<Node> node) const;
    viaduct::result::PausedInterface Describe(Ptr<NetDevice> device) const;
    void SetLinkUp(const std::string& name, bool up);

    const viaduct::scenario::Scenario& m_scenario; //!< the scenario of the run
    const Network& m_network;                      //!< the scenario's nodes
    const Reachability* m_reachability;            //!< null: the nodes are RBridges
    SimulatedTraffic& m_traffic;                   //!< takes links down
};

} // namespace ns3::sim

#endif // VIADUCT_SIM_PAUSED_VIEW_H
