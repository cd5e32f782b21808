/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_SIM_PAUSED_VIEW_H
#define VIADUCT_SIM_PAUSED_VIEW_H

#include "network.h"
#include "reachability.h"
#include "simulated-traffic.h"

#include "base/result/paused.h"
#include "guest/shell/paused.h"
#include "scenario/scenario.h"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace ns3::sim
{

/**
 * What a paused run says of its nodes and links, whatever their stacks are. To look lets no virtual
 * time pass.
 */
class PausedView
{
  public:
    /**
     * @param scenario what is run; must outlive this, as the others must
     * @param network its nodes
     * @param reachability asks their routes; null: they are RBridges
     * @param traffic takes links down
     */
    PausedView(const viaduct::scenario::Scenario& scenario,
               const Network& network,
               const Reachability* reachability,
               SimulatedTraffic& traffic);

    /** @return the names of all nodes */
    std::vector<std::string> GetNodes() const;
    /** @return all links, with the names that their ends' interfaces have in their nodes */
    std::vector<viaduct::guest::PausedLink> GetLinks() const;

    /** Answers a client: {"to": NODE} with a PausedState, which has its `next` if NODE is not
     * empty; {"link": NAME, "up": BOOLEAN} after taking a link down or up, as an event does.
     * @param request what is asked
     * @return the answer
     * @throw viaduct::UsageError naming what there is not
     */
    nlohmann::json Answer(const nlohmann::json& request);

  private:
    viaduct::result::PausedState Look(const std::string& to) const;
    viaduct::result::PausedNode Look(Ptr<Node> node) const;
    viaduct::result::PausedInterface Look(Ptr<NetDevice> device) const;
    void SetLinkUp(const std::string& name, bool up);

    const viaduct::scenario::Scenario& m_scenario; //!< what is run
    const Network& m_network;                      //!< its nodes
    const Reachability* m_reachability;            //!< or null
    SimulatedTraffic& m_traffic;                   //!< takes links down
};

} // namespace ns3::sim

#endif // VIADUCT_SIM_PAUSED_VIEW_H
