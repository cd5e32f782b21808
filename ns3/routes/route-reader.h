/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_ROUTE_READER_H
#define VIADUCT_ROUTE_READER_H

#include "ns3/base/ip-family.h"
#include "ns3/routes/lab-addresses.h"

#include "ns3/object.h"
#include "ns3/ptr.h"

#include "base/wire/address.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace ns3
{

/**
 * @ingroup viaduct
 * A route of a protocol, with its interface as an index of the IP layer.
 */
struct RouteCandidate
{
    viaduct::wire::IpPrefix destination; //!< network
    viaduct::wire::IpAddress gateway;    //!< next hop; unspecified: on link
    uint32_t interface;                  //!< index of the interface in the IP layer
    uint32_t metric;                     //!< lower is better
    bool operator==(const RouteCandidate&) const = default;
};

/**
 * @ingroup viaduct
 * Reads the routes of one routing protocol, by one of the methods that ns-3's protocols offer.
 */
class RouteReader
{
  public:
    virtual ~RouteReader() = default;
    /** @return the protocol's current routes */
    virtual std::vector<RouteCandidate> Read() = 0;
    /**
     * @param changed called whenever the routes may have changed
     * @return false if the protocol does not report changes, so that it must be polled
     */
    virtual bool Watch(std::function<void()> changed) = 0;
    /** @return the method, as in "printed table" */
    virtual std::string GetMethod() const = 0;

    /** @return whether the last Read() returned the routes of a table; otherwise it returned
     * answers to queries, or no routes
     */
    virtual bool IsByTable() const
    {
        return true;
    }

    /**
     * @return the reason why the protocol's routes may differ from the result of the last Read(),
     * so that only the protocol's decisions about packets reveal the routes; empty: there is no
     * such reason
     */
    virtual std::string WhyIncomplete() const
    {
        return {};
    }

    /**
     * Makes the reader ignore the protocol's table permanently. Called after a decision of the
     * protocol about a packet that differs from the table.
     * @param reason the text for WhyIncomplete(); ignored for a table of ns-3's own protocols
     */
    virtual void Distrust(const std::string& reason)
    {
        (void)reason;
    }
};

/**
 * @ingroup viaduct
 * A table of routes that are pushed, one at a time or all at once. The routes are pushed by a
 * protocol that has any of the trace sources RouteAdded, RouteRemoved and RoutingTableUpdated, or
 * by the owner of the object.
 */
template <class Family>
class PushedRoutes : public RouteReader, public std::enable_shared_from_this<PushedRoutes<Family>>
{
  public:
    using Entry = typename Family::Entry; //!< ns-3's type of a route

    /** @param protocol the protocol that pushes routes; null: the owner of this object pushes them
     */
    explicit PushedRoutes(Ptr<Object> protocol = nullptr);

    void Add(const Entry& route);    //!< @param route the route; replaces its destination's routes
    void Remove(const Entry& route); //!< @param route the route, identified by its destination
    /** @param table the complete table; several routes to one destination are of equal cost */
    void Update(const std::vector<Entry>& table);

    std::vector<RouteCandidate> Read() override;
    bool Watch(std::function<void()> changed) override;
    std::string GetMethod() const override;
    bool IsByTable() const override;
    std::string WhyIncomplete() const override;
    void Distrust(const std::string& reason) override;

  private:
    Ptr<Object> m_protocol; //!< the protocol that pushes routes, or null
    std::string m_distrust; //!< reason why the table is ignored
    std::map<viaduct::wire::IpPrefix, std::vector<RouteCandidate>> m_table; //!< pushed routes
};

/** @ingroup viaduct The queries that a reader may send to a protocol. */
struct RouteQuestions
{
    /** The destinations for which a protocol without a table is queried; null: no queries. */
    LabAddresses known;
    bool samples{false}; //!< whether to compare some rows of a user's protocol with RouteOutput()
    /** Whether to query a user's protocol for all addresses in `known`, unless the queries make the
     * protocol send packets. If false, the protocol's decisions about packets reveal the routes. */
    bool asksUnknown{false};
};

/**
 * @ingroup viaduct
 * @param ip an IP layer
 * @param protocol one of the layer's protocols
 * @param questions the permitted queries
 * @return a reader for a protocol that does not push its routes. The reader reads OLSR's table,
 * whose changes a trace source reports; the tables of ns-3's static, global, RIP and RIPng routing;
 * the printed table of any other protocol; or the answers of RouteOutput(), if the printed table
 * cannot be parsed
 */
template <class Family>
std::shared_ptr<RouteReader> MakeRouteReader(Ptr<typename Family::Layer> ip,
                                             Ptr<typename Family::Protocol> protocol,
                                             const RouteQuestions& questions);

} // namespace ns3

#endif // VIADUCT_ROUTE_READER_H
