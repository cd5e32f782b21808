/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_SIM_REACHABILITY_H
#define VIADUCT_SIM_REACHABILITY_H

#include "network.h"

#include "result/run.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ns3::sim
{

/** Queries the nodes' routing protocols, hop by hop, whether every node can reach every other one.
 */
class Reachability
{
  public:
    /**
     * @param scenario the scenario
     * @param network the network built from it; must outlive this object
     */
    Reachability(const viaduct::scenario::Scenario& scenario, const Network& network);
    /**
     * @return the reachability by the protocols' present tables; from this host's nodes, and as far
     *         as to a node of another host
     */
    viaduct::result::Convergence Look() const;

    /** Where packets go from a node of this host, by the present tables: by the destination's
     * number, the destination, or the node of another host that they are passed on to, or -1. */
    using Passages = std::map<std::string, std::vector<int32_t>>;
    /**
     * @param all from all nodes of this host; else from those on a link between hosts, where
     *        packets come in from others
     * @return the passages
     */
    Passages LookAtPassages(bool all) const;

    /**
     * @param to a node's name
     * @return the neighbour to which each other node sends what is for it now, by the node; empty:
     *         it has no route
     */
    std::map<std::string, std::string> NextTo(const std::string& to) const;
    /** @return the next hops of all nodes of this host now; its time is not set */
    viaduct::result::RouteSample Sample() const;

  private:
    /** An interface of a node on a link. */
    using Place = std::pair<uint32_t, uint32_t>; // node, link

    int32_t NextHop(uint32_t node, const viaduct::wire::IpAddress& destination) const;
    /** Says of nodes on a Wi-Fi channel whether being on one network is not enough.
     * @param node a node
     * @param neighbour one that it would send to directly, on this link
     * @param number the link's
     * @return whether the protocol has no route between them, they are out of range, or one has no
     * access point
     */
    bool IsOutOfTouch(uint32_t node, uint32_t neighbour, uint32_t number) const;
    std::vector<int32_t> NextHops(uint32_t to) const;
    bool IsTentative(uint32_t node) const;
    int32_t Follow(const std::vector<int32_t>& next, int32_t from, int32_t to) const;
    int32_t NeighbourOn(uint32_t link, const viaduct::wire::IpAddress& hop) const;

    const Network& m_network;         //!< the nodes
    std::vector<std::string> m_names; //!< nodes, by number
    bool m_sensing = false;           //!< the protocol has routes to neighbours, too
    std::vector<bool> m_hosts;        //!< whether they run no protocol
    std::vector<bool> m_here;         //!< whether they are on this host
    std::vector<viaduct::wire::IpAddress> m_destinations; //!< their main addresses
    std::map<viaduct::wire::IpAddress, std::vector<Place>>
        m_owners; //!< the nodes and links that have an address
    std::vector<std::map<uint32_t, uint32_t>> m_links4; //!< IPv4 interface to link
    std::vector<std::map<uint32_t, uint32_t>> m_links6; //!< IPv6 interface to link
};

} // namespace ns3::sim

#endif // VIADUCT_SIM_REACHABILITY_H
