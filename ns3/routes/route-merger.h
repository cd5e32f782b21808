/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_ROUTE_MERGER_H
#define VIADUCT_ROUTE_MERGER_H

#include "ns3/routes/route-reader.h"

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
 * ns-3's list routing queries the protocols in the order of their priority, and the first protocol
 * that has any route decides; the kernel chooses the route with the longest prefix. Therefore, a
 * route is omitted if a protocol of higher priority covers the route's destination. If a protocol
 * is queried before the connected networks and covers one of these networks, the protocol's routes
 * are put into the preferred table (together with the connected networks in the protocol's table).
 *
 * Routes that the kernel creates itself (connected networks, own addresses, link-local, loopback)
 * are also omitted, as are routes to single multicast groups, and routes through interfaces that
 * are down.
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
     * Adds the routes of one protocol; must be called for the protocol of the highest priority
     * first. Of several routes to a destination, the route with the best metric is used; several
     * routes with the best metric become one multipath route.
     * @param routes the protocol's routes
     */
    void Add(const std::vector<RouteCandidate>& routes);

    /**
     * @param connected the number of protocols, counted from the highest priority, whose routes to
     * connected networks are also included, because the kernel does not create these routes
     * @return the kernel's tables
     */
    viaduct::fib::RouteTable GetTable(size_t connected = 0) const;

    /** @return the number of routes omitted because their interface is not in the lab */
    uint64_t GetUnmapped() const
    {
        return m_unmapped;
    }

  private:
    /** The routes that one protocol adds to the routes of the protocols of higher priority. */
    struct Part
    {
        viaduct::fib::RouteTable routes;    //!< routes for the kernel
        viaduct::fib::RouteTable connected; //!< routes that the kernel creates itself
    };

    void AddHop(const RouteCandidate& route, viaduct::fib::RouteTable& table);
    bool HasRoutes(uint32_t interface) const;
    bool IsWanted(const RouteCandidate& route) const;
    bool IsConnected(const RouteCandidate& route) const;
    bool IsKernelsOwn(const viaduct::wire::IpPrefix& destination) const;
    void Cover(const viaduct::fib::RouteTable& routes);
    std::set<viaduct::wire::IpPrefix> ConnectedNetworks() const;
    size_t CountPreferred() const;

    Ptr<typename Family::Layer> m_ip;                     //!< the layer with the interfaces
    const std::map<Ptr<NetDevice>, std::string>& m_names; //!< kernel names of devices
    std::vector<std::pair<uint32_t, viaduct::wire::IpPrefix>>
        m_own;                                 //!< the node's addresses and their interfaces
    std::set<viaduct::wire::IpPrefix> m_above; //!< destinations of protocols of higher priority
    std::set<int> m_lengths;                   //!< prefix lengths in m_above
    std::vector<Part> m_parts;                 //!< parts of the protocols added so far
    uint64_t m_unmapped{0};                    //!< routes to interfaces outside the lab
};

} // namespace ns3

#endif // VIADUCT_ROUTE_MERGER_H
