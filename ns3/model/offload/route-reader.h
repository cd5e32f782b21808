/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_ROUTE_READER_H
#define VIADUCT_ROUTE_READER_H

#include "ip-family.h"

#include "ns3/object.h"
#include "ns3/ptr.h"

#include "wire/address.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

namespace ns3
{

/**
 * @ingroup viaduct
 * A route of some protocol, its interface still an index of the IP layer.
 */
struct RouteCandidate
{
    viaduct::wire::IpPrefix destination; //!< network
    viaduct::wire::IpAddress gateway;    //!< unspecified: on link
    uint32_t interface;                  //!< of the IP layer
    uint32_t metric;                     //!< lower is better
};

/**
 * @ingroup viaduct
 * Reads the routes of one routing protocol, in one of the ways that ns-3's protocols offer.
 */
class RouteReader
{
  public:
    virtual ~RouteReader() = default;
    /** @return the protocol's routes now */
    virtual std::vector<RouteCandidate> Read() const = 0;
    /**
     * @param changed to be called whenever the routes may be others
     * @return false: the protocol never says so, it has to be read again and again
     */
    virtual bool Watch(std::function<void()> changed) = 0;
};

/**
 * @ingroup viaduct
 * A table that is pushed, route by route or as a whole: by a protocol that has any of the trace
 * sources RouteAdded, RouteRemoved and RoutingTableUpdated, or by the owner's calls.
 */
template <class Family>
class PushedRoutes : public RouteReader, public std::enable_shared_from_this<PushedRoutes<Family>>
{
  public:
    using Entry = typename Family::Entry; //!< a route as ns-3 has it

    /** @param protocol what pushes; null: the owner */
    explicit PushedRoutes(Ptr<Object> protocol = nullptr);

    void Add(const Entry& route);                 //!< @param route a new route
    void Remove(const Entry& route);              //!< @param route its destination decides
    void Update(const std::vector<Entry>& table); //!< @param table the whole table

    std::vector<RouteCandidate> Read() const override;
    bool Watch(std::function<void()> changed) override;

  private:
    Ptr<Object> m_protocol;                                    //!< what pushes
    std::map<viaduct::wire::IpPrefix, RouteCandidate> m_table; //!< what was pushed
};

/**
 * @ingroup viaduct
 * @param ip an IP layer
 * @param protocol one of its protocols
 * @param known all addresses of the lab, for a protocol that only answers RouteOutput(); outlives
 *        the reader
 * @return a reader of what the protocol shows without having been watched: OLSR's table, which a
 * trace source tells of; else the printed table; where that cannot be read, RouteOutput()'s answers
 */
template <class Family>
std::shared_ptr<RouteReader> MakeRouteReader(Ptr<typename Family::Layer> ip,
                                             Ptr<typename Family::Protocol> protocol,
                                             const std::vector<viaduct::wire::IpAddress>& known);

} // namespace ns3

#endif // VIADUCT_ROUTE_READER_H
