/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_SIM_REACHABILITY_H
#define VIADUCT_SIM_REACHABILITY_H

#include "ns3/sim/network.h"

#include "ns3/base/ip-family.h"
#include "ns3/nstime.h"
#include "ns3/routes/on-demand.h"
#include "ns3/routes/route-reader.h"

#include "base/result/run.h"
#include "scenario/awaited.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace ns3::sim
{

/**
 * Follows the routes of the nodes' protocols, hop by hop, to determine whether every node can reach
 * every other node. ns-3's own protocols are asked for a route (RouteOutput()), because a request
 * has no effect on these protocols. Users' protocols are not asked, because a request may make them
 * send packets. Instead, the route tables of users' protocols are read.
 */
class Reachability
{
  public:
    /**
     * @param scenario the scenario
     * @param network the network built from the scenario; must outlive this object
     */
    Reachability(const viaduct::scenario::Scenario& scenario, const Network& network);
    /**
     * @return the pairs of nodes that reach each other by the protocols' current routes. The routes
     * are followed from this machine's nodes to the destination or to the first node on another
     * machine
     */
    viaduct::result::Convergence Check() const;

    /** The next hop to a destination by a node's protocols. */
    struct Said
    {
        ipfamily::NextHop hop; //!< the next hop; without an interface: no route
        /** Whether a user's protocol has priority over the route's protocol, so that packets
         * without a route are passed up to the user's protocol. */
        bool isByPacket{false};
    };
    /**
     * @param node a node's number
     * @param destination the destination of packets
     * @return the protocols' next hop; nothing if a user's protocol has no table that can be read
     */
    std::optional<Said> WhatProtocolsSay(uint32_t node,
                                         const viaduct::wire::IpAddress& destination) const;

    /** The state of the routes that the flows need. */
    enum class FlowRoutes
    {
        WAITING,   //!< some routes are missing
        FOUND,     //!< all routes exist
        ON_DEMAND, //!< a protocol searches for routes when it has a packet to send
    };
    /**
     * Asks users' protocols for the routes of the flows: passes a packet to the protocol of each
     * node on a flow's path. If a protocol's answer contradicts the protocol's table, later calls
     * ignore the table. The method returns at the first protocol that searches for a route on
     * demand.
     * @return the state of the routes; FOUND if there is no flow
     */
    FlowRoutes AskForFlows() const;
    /** @return whether users' protocols confirm the routes of all flows; true if no node has a
     * user's protocol */
    bool HaveFlowsRoutes() const
    {
        return m_tables.empty() || AskForFlows() == FlowRoutes::FOUND;
    }

    /** Makes all later calls ignore the route tables of the users' protocols of a node.
     * @param node a node's number
     */
    void Distrust(uint32_t node) const;

    /** @return the number of ordered pairs of nodes between which the flows need routes; both
     * directions of a flow are counted */
    uint32_t CountFlowPairs() const
    {
        return static_cast<uint32_t>(m_flows.size());
    }

    /** @return whether an address of any node is under duplicate address detection */
    bool IsSomeTentative() const;
    /** @return whether any node has a user's protocol, that is, a protocol with
     * RouteFinding::UNKNOWN */
    bool HasUnknown() const;
    /** @return whether the last Check() could not read the routes of some node */
    bool IsUndecided() const
    {
        return m_undecided;
    }

    /** The ends of the paths that packets from nodes on this machine take by the current routes.
     * The key is the first node's name. The index in the vector is the destination's number. The
     * value is the destination's number, the number of the first node on another machine to which
     * the packets are passed, or -1 if the packets are lost. */
    using Passages = std::map<std::string, std::vector<int32_t>>;
    /**
     * @param all true: for packets from all nodes of this machine; false: for packets from nodes on
     * a link between machines, where packets from other machines arrive
     * @return the ends of the paths of these packets
     */
    Passages LookAtPassages(bool all) const;

    /**
     * @param to a node's name
     * @return for each other node, by its name, the name of the neighbour to which the node now
     * sends packets for `to`; an empty name: the node has no route
     */
    std::map<std::string, std::string> NextTo(const std::string& to) const;
    /** @return the current next hops of all nodes of this machine; the sample's time is not set */
    viaduct::result::RouteSample Sample() const;

  private:
    /** An attachment of a node to a link, as the node's number and the link's number. */
    using Place = std::pair<uint32_t, uint32_t>;

    static constexpr int32_t NONE = -1;      //!< no route
    static constexpr int32_t UNDECIDED = -2; //!< no known route, but a user's protocol may have one

    /** The routes of a user's protocol, as far as they can be read. */
    struct Table
    {
        std::shared_ptr<RouteReader> reader;                      //!< reads the routes
        std::map<viaduct::wire::IpPrefix, RouteCandidate> routes; //!< the routes at the last read
        bool isComplete{false}; //!< whether the last read returned all routes

        /** @return the route to a destination; null: the table has no such route */
        const RouteCandidate* Find(const viaduct::wire::IpAddress& destination) const;
    };

    template <class Family>
    void MakeTables(uint32_t node);
    void ReadTables() const;
    template <class Family>
    std::optional<Said> HopOf(uint32_t node, const viaduct::wire::IpAddress& destination) const;
    FlowRoutes AskFor(uint32_t from, uint32_t to) const;
    template <class Family>
    std::optional<ProtocolAnswer> AskAt(uint32_t node,
                                        const viaduct::wire::IpAddress& destination) const;
    int32_t NeighbourOf(uint32_t node,
                        const ipfamily::NextHop& hop,
                        const viaduct::wire::IpAddress& destination) const;
    int32_t NextHop(uint32_t node, const viaduct::wire::IpAddress& destination) const;
    /** Determines whether two nodes on a Wi-Fi link cannot exchange packets although they are on
     * one network.
     * @param node a node's number
     * @param neighbour the number of a node to which `node` would send directly, on the link
     * @param number the link's number
     * @return whether the protocol has no route between the two nodes, they are out of range, or
     * one of them is not associated with an access point
     */
    bool IsOutOfTouch(uint32_t node, uint32_t neighbour, uint32_t number) const;
    std::vector<int32_t> NextHops(uint32_t to) const;
    bool IsTentative(uint32_t node) const;
    int32_t Follow(const std::vector<int32_t>& next, int32_t from, int32_t to) const;
    int32_t NeighbourOn(uint32_t link, const viaduct::wire::IpAddress& hop) const;

    const Network& m_network; //!< the nodes
    /** The pairs of nodes between which routes are awaited. */
    viaduct::scenario::AwaitedRoutes m_awaited;
    /** The pairs of nodes (from, to) of the flows, in both directions. */
    std::set<std::pair<uint32_t, uint32_t>> m_flows;
    /** The route tables of users' protocols, by the protocol. */
    mutable std::map<Ptr<Object>, Table> m_tables;
    mutable Time m_read{-1};          //!< time of the last read of m_tables
    mutable bool m_undecided{false};  //!< result of IsUndecided()
    std::vector<std::string> m_names; //!< node names, by number
    bool m_sensing = false;    //!< whether the routing protocol has routes to neighbours, too
    std::vector<bool> m_hosts; //!< whether a node is a host, by the node's number
    std::vector<bool> m_here;  //!< whether a node is on this machine, by its number
    std::vector<viaduct::wire::IpAddress> m_destinations; //!< the nodes' main addresses, by number
    std::map<viaduct::wire::IpAddress, std::vector<Place>>
        m_owners; //!< the nodes that have an address, each with the link of the address
    /** Each node's IPv4 interfaces, with the numbers of their links. */
    std::vector<std::map<uint32_t, uint32_t>> m_links4;
    /** Each node's IPv6 interfaces, with the numbers of their links. */
    std::vector<std::map<uint32_t, uint32_t>> m_links6;
};

/** @return whether any node has a protocol that searches for routes on demand, when packets need
 * them
 * @param network the nodes
 */
bool FindRoutesOnDemand(const Network& network);

} // namespace ns3::sim

#endif // VIADUCT_SIM_REACHABILITY_H
