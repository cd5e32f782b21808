/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_ROUTE_SOURCE_H
#define VIADUCT_ROUTE_SOURCE_H

#include "route-table-text.h"

#include "ns3/event-id.h"
#include "ns3/ipv4-routing-protocol.h"
#include "ns3/ipv4-routing-table-entry.h"
#include "ns3/ipv4.h"
#include "ns3/ipv6-routing-protocol.h"
#include "ns3/ipv6-routing-table-entry.h"
#include "ns3/ipv6.h"
#include "ns3/node.h"
#include "ns3/nstime.h"
#include "ns3/object.h"
#include "ns3/traced-callback.h"

#include "fib/route.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace ns3
{

namespace olsr
{
class RoutingProtocol;
}

/**
 * @ingroup viaduct
 * Reads the routes that a node's unmodified routing protocols have computed and hands the
 * differences to a kernel table.
 *
 * Where routes come from, for each protocol found in the node (also inside list routing):
 *  - olsr::RoutingProtocol: its trace source RoutingTableChanged; the table by its public call.
 *  - a protocol that has any of the trace sources RouteAdded, RouteRemoved (both
 *    `const Ipv4RoutingTableEntry&`, or Ipv6) and RoutingTableUpdated
 *    (`const std::vector<Ipv4RoutingTableEntry>&`, or Ipv6): what it pushes. This is the interface
 *    of R. Cardoso's thesis (2015, section 5.2.1).
 *  - any other: the table it prints, read again every PollInterval.
 *  - one that prints nothing that can be read: RouteOutput() for every address of the lab.
 *
 * Not mirrored: what the kernel has by itself (connected networks, own addresses, link-local,
 * loopback), multicast, and routes through interfaces that are down. In list routing a protocol of
 * higher priority hides what it covers of the lower ones, as ns-3 asks them in that order; the
 * kernel chooses by longest prefix.
 */
class RouteSource : public Object
{
  public:
    /** What happened so far. */
    struct Counters
    {
        uint64_t added{0};      //!< routes that were new
        uint64_t replaced{0};   //!< routes that got another next hop
        uint64_t removed{0};    //!< routes taken away
        uint64_t batches{0};    //!< calls of the apply function
        uint64_t refused{0};    //!< calls after which the kernel refused some route
        uint64_t unmapped{0};   //!< routes left out: their interface is not in the lab
        int64_t nanoseconds{0}; //!< wall-clock time spent in the apply function
    };

    /** Changes the kernel's table; throws viaduct::Error if some route was refused. */
    using Apply = std::function<void(const viaduct::fib::RouteChanges&)>;

    /**
     * TracedCallback signature for changes handed on.
     * @param node the node's id
     * @param changes how many routes were added, replaced or removed
     */
    typedef void (*PushedTracedCallback)(uint32_t node, uint32_t changes);

    /**
     * TracedCallback signature for refusals.
     * @param node the node's id
     * @param message what the kernel refused
     */
    typedef void (*RefusedTracedCallback)(uint32_t node, const std::string& message);

    /**
     * @brief Get the type ID.
     * @return the object TypeId
     */
    static TypeId GetTypeId();
    RouteSource();
    ~RouteSource() override;

    /**
     * @param node the node whose routes are read
     * @param names the kernel's name for each device that is in the lab
     */
    void SetNode(Ptr<Node> node, const std::map<Ptr<NetDevice>, std::string>& names);
    /** @param apply where the differences go */
    void SetApply(Apply apply);
    /** @param addresses all addresses of the lab, for protocols that only answer RouteOutput() */
    void SetKnownAddresses(const std::vector<viaduct::wire::IpAddress>& addresses);

    /** Connects to the protocols and begins: the first update happens at once. */
    void Start();
    /** Reads all tables and applies the difference now. */
    void Update();
    /** @return the routes as they should be in the kernel */
    viaduct::fib::RouteTable Collect();

    /** @name Push interface, for programs that hold the RouteSource itself. */
    /**@{*/
    /** @param route the new route */
    void RouteAdded(const Ipv4RoutingTableEntry& route);
    /** @param route the route that is no more; its destination decides */
    void RouteRemoved(const Ipv4RoutingTableEntry& route);
    /** @param routes the whole table */
    void RoutingTableUpdated(const std::vector<Ipv4RoutingTableEntry>& routes);
    /** @copydoc RouteAdded(const Ipv4RoutingTableEntry&) */
    void RouteAdded(const Ipv6RoutingTableEntry& route);
    /** @copydoc RouteRemoved(const Ipv4RoutingTableEntry&) */
    void RouteRemoved(const Ipv6RoutingTableEntry& route);
    /** @copydoc RoutingTableUpdated(const std::vector<Ipv4RoutingTableEntry>&) */
    void RoutingTableUpdated(const std::vector<Ipv6RoutingTableEntry>& routes);
    /**@}*/

    /** @return what happened so far */
    const Counters& GetCounters() const;
    /** @return whether some protocol has to be polled */
    bool IsPolling() const;

  protected:
    void DoDispose() override;

  private:
    /** A route of some protocol, its interface still an index of the IP layer. */
    struct Candidate
    {
        viaduct::wire::IpPrefix destination; //!< network
        viaduct::wire::IpAddress gateway;    //!< unspecified: on link
        uint32_t interface;                  //!< of the IP layer
        uint32_t metric;                     //!< lower is better
    };

    /** What one protocol has pushed. */
    using Pushed = std::map<viaduct::wire::IpPrefix, Candidate>;

    void ScheduleUpdate();
    void Poll();
    void Connect(Ptr<Object> protocol, viaduct::wire::Family family);
    bool ConnectPush(Ptr<Object> protocol, viaduct::wire::Family family);
    void TableChanged(uint32_t size);

    std::vector<Ptr<Ipv4RoutingProtocol>> Ipv4Protocols() const;
    std::vector<Ptr<Ipv6RoutingProtocol>> Ipv6Protocols() const;
    std::vector<Candidate> CandidatesOf(Ptr<Ipv4RoutingProtocol> protocol) const;
    std::vector<Candidate> CandidatesOf(Ptr<Ipv6RoutingProtocol> protocol) const;
    std::vector<Candidate> OlsrCandidates(const olsr::RoutingProtocol& protocol) const;
    template <class Ip, class Protocol>
    std::vector<Candidate> PrintedCandidates(Ptr<Ip> ip, Ptr<Protocol> protocol) const;
    template <class Ip, class Protocol>
    std::vector<Candidate> QueriedCandidates(Ptr<Ip> ip, Ptr<Protocol> protocol) const;
    template <class Ip, class Protocol>
    void KeepBest(Ptr<Ip> ip, Ptr<Protocol> protocol, std::vector<Candidate>& candidates) const;
    template <class Ip>
    void Mirror(Ptr<Ip> ip,
                const std::vector<std::vector<Candidate>>& protocols,
                viaduct::fib::RouteTable& table);
    void ApplyDifference(const viaduct::fib::RouteTable& wanted);

    Ptr<Node> m_node;                                 //!< whose routes
    std::map<Ptr<NetDevice>, std::string> m_names;    //!< kernel names of devices
    std::vector<viaduct::wire::IpAddress> m_known;    //!< addresses of the lab
    Apply m_apply;                                    //!< where differences go
    Time m_pollInterval;                              //!< for protocols without traces
    bool m_polling{false};                            //!< some protocol is polled
    std::map<Ptr<Object>, Pushed> m_pushed;           //!< by protocol; null: by direct call
    viaduct::fib::RouteTable m_installed;             //!< what was applied
    Counters m_counters;                              //!< what happened so far
    EventId m_update;                                 //!< the coalesced update
    EventId m_poll;                                   //!< the next poll
    TracedCallback<uint32_t, uint32_t> m_pushedTrace; //!< changes handed on
    TracedCallback<uint32_t, const std::string&> m_refusedTrace; //!< refusals
};

} // namespace ns3

#endif // VIADUCT_ROUTE_SOURCE_H
