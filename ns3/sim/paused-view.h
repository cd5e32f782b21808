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
     * @param scenario the scenario of the run; all arguments must outlive this object
     * @param network the scenario's nodes
     * @param reachability reads the nodes' next hops; null: the nodes forward frames
     * @param traffic takes links up and down
     */
    PausedView(const viaduct::scenario::Scenario& scenario,
               const Network& network,
               const Reachability* reachability,
               SimulatedTraffic& traffic);

    /** @return the names of all nodes */
    std::vector<std::string> GetNodes() const;
    /** @return all links, each with the names of its nodes and of their interfaces */
    std::vector<viaduct::guest::PausedLink> GetLinks() const;

    /** Answers a client's request. The answer to {"to": NODE} is a PausedState, in which `next` is
     * the next hop of each node to NODE, unless NODE is empty. For {"link": NAME, "up": BOOLEAN} a
     * link is taken down or up, as an event of the scenario does; the answer is empty.
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
    /** Reads the nodes' next hops; null: the nodes forward frames. */
    const Reachability* m_reachability;
    SimulatedTraffic& m_traffic; //!< takes links up and down
};

} // namespace ns3::sim

#endif // VIADUCT_SIM_PAUSED_VIEW_H
