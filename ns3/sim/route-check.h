/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_SIM_ROUTE_CHECK_H
#define VIADUCT_SIM_ROUTE_CHECK_H

#include "ns3/sim/network.h"
#include "ns3/sim/reachability.h"

#include "ns3/offload/lab-helper.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace ns3::sim
{

/**
 * Compares the next hops according to the nodes' routing protocols with the next hops according to
 * the tables by which the data planes (a kernel or the forwarder) really forward packets. The class
 * is for a lab whose data planes are outside the simulator.
 *
 * The comparison leaves out nodes whose protocol finds routes on demand, routes that no table shows
 * (of a protocol that decides for each packet), routes that a program on the node has made, and
 * routes over interfaces that are down.
 */
class RouteCheck
{
  public:
    /**
     * @param scenario the scenario
     * @param network the scenario's network; must outlive this object
     * @param reachability returns the protocols' routes; must outlive this object
     * @param lab the lab; must outlive this object
     */
    RouteCheck(const viaduct::scenario::Scenario& scenario,
               const Network& network,
               const Reachability& reachability,
               const LabHelper& lab);

    /**
     * Compares the current routes of each node to all other nodes. If there are more than
     * MAX_ROUTES routes, compares only the routes to the ends of flows and to some other nodes.
     * @return a line of text for each difference
     * @throw viaduct::Error if a data plane cannot be read
     */
    std::vector<std::string> Compare() const;

    /**
     * Compares repeatedly until there is no difference, or differences remain after 3 s.
     * Comparisons take at most a fifth of the time, because the simulator handles no event during a
     * comparison.
     * @param then called once, after the events that the last comparison has delayed; its argument
     * has a line for each of the first differences, and a line with the number of further
     * differences
     */
    void AwaitAgreement(const std::function<void(const std::vector<std::string>&)>& then) const;

  private:
    void CompareUntil(Time deadline,
                      const std::function<void(const std::vector<std::string>&)>& then) const;
    std::vector<std::string> Summarize() const;

    static constexpr uint32_t MAX_ROUTES = 20000;

    std::vector<uint32_t> ChooseDestinations(const viaduct::scenario::Scenario& scenario) const;
    std::string CompareRoute(uint32_t node,
                             uint32_t to,
                             const viaduct::broker::Passage& passage) const;
    bool IsUsable(uint32_t node, const viaduct::wire::IpAddress& to, uint32_t interface) const;

    const Network& m_network;           //!< the nodes
    const Reachability& m_reachability; //!< returns the protocols' routes
    const LabHelper& m_lab;             //!< the lab with the data planes
    std::vector<std::string> m_names;   //!< node names, by number
    /** Whether programs make a node's routes, by the node's number. */
    std::vector<bool> m_isByPrograms;
    std::vector<viaduct::wire::IpAddress> m_addresses; //!< main addresses of nodes, by number
    /** Numbers of the nodes that are the destinations of compared routes. */
    std::vector<uint32_t> m_destinations;
    std::map<uint32_t, std::map<Ptr<NetDevice>, std::string>>
        m_interfaces; //!< interface names in each node's kernel, by device
};

} // namespace ns3::sim

#endif // VIADUCT_SIM_ROUTE_CHECK_H
