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
 * Compares the next hops of packets by the nodes' protocols with the next hops by the tables that
 * really forward the packets, the kernels' or the forwarder's, as a data plane itself reads them.
 * For a lab whose data planes are outside the simulator.
 *
 * Not compared: nodes whose protocol finds routes on demand, routes that no table shows (of a
 * protocol that decides by packets), routes that a program of the node has made, and routes over
 * interfaces that are down.
 */
class RouteCheck
{
  public:
    /**
     * @param scenario the scenario
     * @param network its network; must outlive this object
     * @param reachability returns the protocols' routes; must outlive this object
     * @param lab the lab; must outlive this object
     */
    RouteCheck(const viaduct::scenario::Scenario& scenario,
               const Network& network,
               const Reachability& reachability,
               const LabHelper& lab);

    /**
     * Compares now: for each node the routes to all other nodes, or, if these are more than
     * MAX_ROUTES, the routes to the ends of flows and to some other nodes.
     * @return a line for each difference
     * @throw viaduct::Error if a data plane cannot be read
     */
    std::vector<std::string> Compare() const;

    /**
     * Compares until there is no difference, or some differences have lasted for 3 s. Comparisons
     * take at most a fifth of the time: meanwhile the simulator handles no event.
     * @param then called once, when the events that were made late have been handled, with the
     * first differences, and a line with the number of the remaining ones
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

    const Network& m_network;                          //!< the nodes
    const Reachability& m_reachability;                //!< the protocols' routes
    const LabHelper& m_lab;                            //!< the data planes
    std::vector<std::string> m_names;                  //!< node names, by number
    std::vector<bool> m_isByPrograms;                  //!< whether programs make the node's routes
    std::vector<viaduct::wire::IpAddress> m_addresses; //!< main addresses of nodes
    std::vector<uint32_t> m_destinations;              //!< destinations of compared routes
    std::map<uint32_t, std::map<Ptr<NetDevice>, std::string>>
        m_interfaces; //!< the kernels' names, by node
};

} // namespace ns3::sim

#endif // VIADUCT_SIM_ROUTE_CHECK_H
