/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_SIM_REACHABILITY_H
#define VIADUCT_SIM_REACHABILITY_H

#include "network.h"

#include "ns3/ip-family.h"
#include "ns3/nstime.h"
#include "ns3/on-demand.h"
#include "ns3/route-reader.h"

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
 * Follows the routes of the nodes' protocols, hop by hop, whether every node can reach every other
 * one. ns-3's own protocols are asked, which has no effect on them; those of a user are not,
 * because that may make them send: their tables are read.
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

    /** What a node's protocols say about a destination. */
    struct Said
    {
        ipfamily::NextHop hop;  //!< the next hop
        bool isByPacket{false}; //!< a protocol of a user was asked first, whose packets without a
                                //!< route go up to it
    };
    /**
     * @param node a node's number
     * @param destination a destination
     * @return what they say; nothing if a protocol of a user has no table that can be read
     */
    std::optional<Said> WhatProtocolsSay(uint32_t node,
                                         const viaduct::wire::IpAddress& destination) const;

    /** How far the routes that the flows need are. */
    enum class FlowRoutes
    {
        WAITING,   //!< some are missing
        FOUND,     //!< all are there
        ON_DEMAND, //!< a protocol looks for them when it is given a packet
    };
    /**
     * Asks the protocols of a user for the routes that the flows will take, each by a packet at the
     * node where the flow's would be. A table that says otherwise counts for nothing from then on.
     * The first that looks for a route ends the questions.
     * @return how far they are; FOUND also without any flow
     */
    FlowRoutes AskForFlows() const;
    /** @return whether protocols of users, if there are any, confirm the routes of all flows */
    bool HaveFlowsRoutes() const
    {
        return m_tables.empty() || AskForFlows() == FlowRoutes::FOUND;
    }

    /** From now on the tables of a node's protocols, if they are of users, count for nothing.
     * @param node a node's number
     */
    void Distrust(uint32_t node) const;

    /** @return how many pairs of nodes the flows need routes between, each way counted */
    uint32_t CountFlowPairs() const
    {
        return static_cast<uint32_t>(m_flows.size());
    }

    /** @return whether an address of some node is under duplicate address detection */
    bool IsSomeTentative() const;
    /** @return whether some node has a protocol of a user */
    bool HasUnknown() const;
    /** @return whether the routes of some node could not be read by the last Look() */
    bool IsUndecided() const
    {
        return m_undecided;
    }

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

    static constexpr int32_t NONE = -1;      //!< no route
    static constexpr int32_t UNDECIDED = -2; //!< a protocol of a user may have one

    /** The routes of a user's protocol as they can be read. */
    struct Table
    {
        std::shared_ptr<RouteReader> reader;                      //!< reads it
        std::map<viaduct::wire::IpPrefix, RouteCandidate> routes; //!< at the last read
        bool isComplete{false};                                   //!< it had no others then

        /** @return the route to a destination; null: it has none */
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

    const Network& m_network;                        //!< the nodes
    viaduct::scenario::AwaitedRoutes m_awaited;      //!< between which routes are looked at
    std::set<std::pair<uint32_t, uint32_t>> m_flows; //!< from, to; both ways
    mutable std::map<Ptr<Object>, Table> m_tables;   //!< of the protocols of users
    mutable Time m_read{-1};                         //!< when these were read
    mutable bool m_undecided{false};                 //!< see IsUndecided()
    std::vector<std::string> m_names;                //!< nodes, by number
    bool m_sensing = false;                          //!< the protocol has routes to neighbours, too
    std::vector<bool> m_hosts;                       //!< whether they run no protocol
    std::vector<bool> m_here;                        //!< whether they are on this host
    std::vector<viaduct::wire::IpAddress> m_destinations; //!< their main addresses
    std::map<viaduct::wire::IpAddress, std::vector<Place>>
        m_owners; //!< the nodes and links that have an address
    std::vector<std::map<uint32_t, uint32_t>> m_links4; //!< IPv4 interface to link
    std::vector<std::map<uint32_t, uint32_t>> m_links6; //!< IPv6 interface to link
};

/** @return whether some node has a protocol that looks for routes when packets need them
 * @param network the nodes
 */
bool FindRoutesOnDemand(const Network& network);

} // namespace ns3::sim

#endif // VIADUCT_SIM_REACHABILITY_H
