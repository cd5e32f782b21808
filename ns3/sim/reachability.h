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
 * every other node. ns-3's own protocols are asked, which has no effect on them; users' protocols
 * are not asked, because that may make them send: their tables are read.
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
     * @return the reachability by the protocols' present tables, from this host's nodes to the
     * destination or to the first node of another host
     */
    viaduct::result::Convergence Check() const;

    /** The answer of a node's protocols about a destination. */
    struct Said
    {
        ipfamily::NextHop hop;  //!< the next hop
        bool isByPacket{false}; //!< a user's protocol was asked first; packets without a route go
                                //!< up to it
    };
    /**
     * @param node a node's number
     * @param destination a destination
     * @return the protocols' answer; nothing if a user's protocol has no table that can be read
     */
    std::optional<Said> WhatProtocolsSay(uint32_t node,
                                         const viaduct::wire::IpAddress& destination) const;

    /** The state of the routes that the flows need. */
    enum class FlowRoutes
    {
        WAITING,   //!< some routes are missing
        FOUND,     //!< all routes exist
        ON_DEMAND, //!< a protocol looks for them when it is given a packet
    };
    /**
     * Asks users' protocols for the routes that the flows will take, each by a packet at the node
     * where the flow's packet would be. A table that contradicts the answer is ignored after that.
     * The first protocol that looks for a route ends the questions.
     * @return the state of the routes; FOUND also without any flow
     */
    FlowRoutes AskForFlows() const;
    /** @return whether users' protocols, if there are any, confirm the routes of all flows */
    bool HaveFlowsRoutes() const
    {
        return m_tables.empty() || AskForFlows() == FlowRoutes::FOUND;
    }

    /** Ignores the tables of a node's protocols, if they are users' protocols, after this call.
     * @param node a node's number
     */
    void Distrust(uint32_t node) const;

    /** @return the number of pairs of nodes between which the flows need routes, each direction
     * counted */
    uint32_t CountFlowPairs() const
    {
        return static_cast<uint32_t>(m_flows.size());
    }

    /** @return whether an address of any node is under duplicate address detection */
    bool IsSomeTentative() const;
    /** @return whether any node has a user's protocol */
    bool HasUnknown() const;
    /** @return whether the last Check() could not read the routes of some node */
    bool IsUndecided() const
    {
        return m_undecided;
    }

    /** The ends of the paths of packets from a node of this host, by the present tables: by the
     * destination's number, the destination, or the node of another host to which they are passed
     * on, or -1. */
    using Passages = std::map<std::string, std::vector<int32_t>>;
    /**
     * @param all from all nodes of this host; else from nodes on a link between machines, where
     * packets from other hosts arrive
     * @return the passages
     */
    Passages LookAtPassages(bool all) const;

    /**
     * @param to a node's name
     * @return the neighbour to which each other node sends packets for it now, by the node; empty:
     * that node has no route
     */
    std::map<std::string, std::string> NextTo(const std::string& to) const;
    /** @return the present next hops of all nodes of this host; its time is not set */
    viaduct::result::RouteSample Sample() const;

  private:
    /** An interface of a node on a link. */
    using Place = std::pair<uint32_t, uint32_t>; // node, link

    static constexpr int32_t NONE = -1;      //!< no route
    static constexpr int32_t UNDECIDED = -2; //!< a user's protocol may have one

    /** The routes of a user's protocol, as far as they can be read. */
    struct Table
    {
        std::shared_ptr<RouteReader> reader;                      //!< reads the routes
        std::map<viaduct::wire::IpPrefix, RouteCandidate> routes; //!< at the last read
        bool isComplete{false};                                   //!< the last read got all routes

        /** @return the route to a destination; null: there is none */
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
    /** Determines whether two nodes on a Wi-Fi channel fail to reach each other although they are
     * on one network.
     * @param node a node
     * @param neighbour a node to which it would send directly, on this link
     * @param number the link's number
     * @return whether the protocol has no route between them, they are out of range, or one has no
     * access point
     */
    bool IsOutOfTouch(uint32_t node, uint32_t neighbour, uint32_t number) const;
    std::vector<int32_t> NextHops(uint32_t to) const;
    bool IsTentative(uint32_t node) const;
    int32_t Follow(const std::vector<int32_t>& next, int32_t from, int32_t to) const;
    int32_t NeighbourOn(uint32_t link, const viaduct::wire::IpAddress& hop) const;

    const Network& m_network;                        //!< the nodes
    viaduct::scenario::AwaitedRoutes m_awaited;      //!< pairs whose routes are awaited
    std::set<std::pair<uint32_t, uint32_t>> m_flows; //!< from, to; both ways
    mutable std::map<Ptr<Object>, Table> m_tables;   //!< tables of users' protocols
    mutable Time m_read{-1};                         //!< time of the last read of m_tables
    mutable bool m_undecided{false};                 //!< result of IsUndecided()
    std::vector<std::string> m_names;                //!< node names, by number
    bool m_sensing = false;                          //!< the protocol has routes to neighbours, too
    std::vector<bool> m_hosts;                       //!< nodes that run no protocol
    std::vector<bool> m_here;                        //!< nodes on this host
    std::vector<viaduct::wire::IpAddress> m_destinations; //!< the nodes' main addresses
    std::map<viaduct::wire::IpAddress, std::vector<Place>>
        m_owners; //!< the nodes and links that have an address
    std::vector<std::map<uint32_t, uint32_t>> m_links4; //!< IPv4 interface to link
    std::vector<std::map<uint32_t, uint32_t>> m_links6; //!< IPv6 interface to link
};

/** @return whether any node has a protocol that looks for routes when packets need them
 * @param network the nodes
 */
bool FindRoutesOnDemand(const Network& network);

} // namespace ns3::sim

#endif // VIADUCT_SIM_REACHABILITY_H
