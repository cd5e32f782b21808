/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_ROUTE_MERGER_H
#define VIADUCT_ROUTE_MERGER_H

#include "route-reader.h"

#include "ns3/net-device.h"
#include "ns3/ptr.h"

#include "plane/fib/route.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{

/**
 * @ingroup viaduct
 * Merges the routes of a node's protocols into tables for the kernel.
 *
 * ns-3's list routing asks the protocols by priority, and the first that has any route decides; the
 * kernel chooses by longest prefix. So routes that a protocol of higher priority covers are
 * omitted, and the protocols that are asked before the connected networks, and cover one, come into
 * the preferred table (with those connected networks that they have themselves).
 *
 * It also omits routes that the kernel has by itself (connected networks, own addresses,
 * link-local, loopback), routes to single multicast groups, and routes through interfaces that are
 * down.
 */
template <class Family>
class RouteMerger
{
  public:
    /**
     * @param ip the node's IP layer
     * @param names the kernel's name for each device that is in the lab
     */
    RouteMerger(Ptr<typename Family::Layer> ip, const std::map<Ptr<NetDevice>, std::string>& names);

    /**
     * Takes the routes of one protocol; highest priority first. Of several for a destination, those
     * with the best metric; if several have it, they become one multipath route.
     * @param routes of a protocol
     */
    void Add(const std::vector<RouteCandidate>& routes);

    /**
     * @param connected of how many protocols, from the first on, the routes to connected networks
     * are needed too, because the kernel has none of its own
     * @return the kernel's tables
     */
    viaduct::fib::RouteTable GetTable(size_t connected = 0) const;

    /** @return how many routes were left out because their interface is not in the lab */
    uint64_t GetUnmapped() const
    {
        return m_unmapped;
    }

  private:
    /** What one protocol adds to those before it. */
    struct Part
    {
        viaduct::fib::RouteTable routes;    //!< that the kernel must get
        viaduct::fib::RouteTable connected; //!< that it has
    };

    void AddHop(const RouteCandidate& route, viaduct::fib::RouteTable& table);
    bool HasRoutes(uint32_t interface) const;
    bool IsWanted(const RouteCandidate& route) const;
    bool IsConnected(const RouteCandidate& route) const;
    bool IsKernelsOwn(const viaduct::wire::IpPrefix& destination) const;
    void Cover(const viaduct::fib::RouteTable& routes);
    std::set<viaduct::wire::IpPrefix> ConnectedNetworks() const;
    size_t CountPreferred() const;

    Ptr<typename Family::Layer> m_ip;                     //!< has the interfaces
    const std::map<Ptr<NetDevice>, std::string>& m_names; //!< in the kernel
    std::vector<std::pair<uint32_t, viaduct::wire::IpPrefix>>
        m_own;                                 //!< the node's addresses and their interfaces
    std::set<viaduct::wire::IpPrefix> m_above; //!< covered by protocols of higher priority
    std::set<int> m_lengths;                   //!< of these prefixes
    std::vector<Part> m_parts;                 //!< of the protocols so far
    uint64_t m_unmapped{0};                    //!< left out
};

} // namespace ns3

#endif // VIADUCT_ROUTE_MERGER_H
