/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_ROUTE_SOURCE_H
#define VIADUCT_ROUTE_SOURCE_H

#include "lab-addresses.h"
#include "poll-budget.h"
#include "route-reader.h"

#include "ns3/event-id.h"
#include "ns3/node.h"
#include "ns3/nstime.h"
#include "ns3/object.h"
#include "ns3/traced-callback.h"

#include "plane/fib/route_mirror.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace ns3
{

/**
 * @ingroup viaduct
 * Reads the routes that a node's unmodified routing protocols have computed and passes the changes
 * to its data plane.
 *
 * Where routes come from, for each protocol found in the node (also inside list routing):
 *  - olsr::RoutingProtocol: its trace source RoutingTableChanged; the table by its public call.
 *  - a protocol with any of the trace sources RouteAdded, RouteRemoved (both
 *    `const Ipv4RoutingTableEntry&`, or Ipv6) and RoutingTableUpdated
 *    (`const std::vector<Ipv4RoutingTableEntry>&`, or Ipv6): the routes it pushes. This is the
 *    interface of T. B. Cardoso's thesis (2015, section 5.2.1).
 *  - ns-3's static, global, RIP and RIPng routing: their tables, read every PollInterval.
 *  - any other: the table it prints, parsed again every PollInterval. That of a user's protocol
 *    counts only while each of its rows is understood, and as long as it agrees with RouteOutput():
 *    for some of its new rows, and for the packets that go up.
 *  - a user's protocol without such a table: its decisions about packets that went up (Decide()).
 *    Each is a route to one destination until the protocol decides otherwise, or nobody has used it
 *    for DecisionTimeout.
 *  - where packets do not go up: RouteOutput() for every address of the lab, unless that makes it
 *    look for routes.
 *
 * Destinations that a user's protocol does not route may be routed by the protocols below it in
 * list routing; so their routes become the kernel's only as decisions, too.
 *
 * RouteMerger merges them. A route that the data plane refuses is tried again with every update,
 * and every RetryInterval.
 */
class RouteSource : public Object
{
  public:
    /** Statistics so far. */
    struct Counters : viaduct::fib::RouteCounters
    {
        uint64_t unmapped{0};       //!< routes left out: their interface is not in the lab
        uint64_t missing{0};        //!< changes that the data plane refused at the last update
        uint64_t reads{0};          //!< of all tables
        uint64_t merges{0};         //!< of the tables that were read: those with a change
        uint64_t polls{0};          //!< reads because time had passed
        viaduct::Duration pollCost; //!< processor time of these reads and merges
        Time pollIntervals;         //!< sum of the intervals after them
    };

    /** TracedCallback signature for changes passed on.
     * @param node the node's id
     * @param changes how many routes were added, replaced or removed
     */
    typedef void (*PushedTracedCallback)(uint32_t node, uint32_t changes);

    /** TracedCallback signature for the changes themselves.
     * @param changes the routes
     */
    typedef void (*ChangedTracedCallback)(const viaduct::fib::RouteChanges& changes);

    /**
     * TracedCallback signature for refusals.
     * @param node the node's id
     * @param message what was refused; reported once as long as it stays the same
     */
    typedef void (*RefusedTracedCallback)(uint32_t node, const std::string& message);

    /** @return the object TypeId */
    static TypeId GetTypeId();

    /**
     * @param node the node whose routes are read
     * @param names the kernel's name for each device that is in the lab
     */
    void SetNode(Ptr<Node> node, const std::map<Ptr<NetDevice>, std::string>& names);
    /** @param sink the node's data plane: where the differences go */
    void SetSink(std::shared_ptr<viaduct::fib::RouteSink> sink);
    /** @param budget stretches the poll interval so that polling costs no more than this; null: the
     * interval stays as it is */
    void SetPollBudget(std::shared_ptr<PollBudget> budget)
    {
        m_budget = std::move(budget);
    }

    /** How one protocol's routes are known. */
    struct Reading
    {
        std::string protocol; //!< its TypeId
        std::string method;   //!< as in "printed table"
        std::string reason;   //!< why no better method serves; empty: none would
        bool isByTable{true}; //!< a table tells the routes
    };

    /** @param goesUp whether a packet without a route, of this version of IP, goes up to the
     * protocols; called after Start() */
    void SetUpcalls(std::function<bool(viaduct::wire::Family)> goesUp)
    {
        m_goesUp = std::move(goesUp);
    }

    /**
     * Takes what the node's protocols decided about a packet that went up.
     * @param destination the packet's
     * @param gateway the next hop; unspecified: on link
     * @param device it leaves by; null: they do not forward it (now)
     */
    void Decide(const viaduct::wire::IpAddress& destination,
                const viaduct::wire::IpAddress& gateway,
                Ptr<NetDevice> device);

    /** @return how the routes of the node's protocols are known now, those of IPv4 first */
    std::vector<Reading> GetReadings() const;

    /** @param addresses all addresses of the lab, for protocols that only answer RouteOutput() */
    void SetKnownAddresses(LabAddresses addresses)
    {
        m_known = std::move(addresses);
    }

    /** Leaves the data plane as it is until Release(): the protocols start anew, and for a while
     * know less than the instance before them whose routes these are (as in RFC 4724, section 4.1).
     * @param routes those of the data plane; after SetSink(), before Start()
     */
    void Hold(viaduct::fib::RouteTable routes);
    /** Makes the data plane's routes those of the protocols, by the difference. No effect unless
     * they are held. */
    void Release();

    /** Connects to the protocols and begins: the first update happens at once. */
    void Start();
    /** Reads all tables and applies the difference now. */
    void Update();
    /** Does so soon, but not more often than once per millisecond, however often it is called. */
    void RequestUpdate();

    /** @name Push interface, for programs that hold the RouteSource itself. */
    /**@{*/
    /** @param route the new route: an Ipv4RoutingTableEntry or an Ipv6RoutingTableEntry */
    template <class Entry>
    void RouteAdded(const Entry& route)
    {
        Direct<Entry>().Add(route);
        ScheduleUpdate();
    }

    /** @param route the removed route; identified by its destination */
    template <class Entry>
    void RouteRemoved(const Entry& route)
    {
        Direct<Entry>().Remove(route);
        ScheduleUpdate();
    }

    /** @param routes the whole table */
    template <class Entry>
    void RoutingTableUpdated(const std::vector<Entry>& routes)
    {
        Direct<Entry>().Update(routes);
        ScheduleUpdate();
    }

    /**@}*/

    /** @return the statistics so far */
    Counters GetCounters() const;
    /** @return which routes the data plane refused at the last update, and why; empty: none */
    const std::string& GetRefusal() const
    {
        return m_refusal;
    }

    /** @return whether some protocol has to be polled */
    bool IsPolling() const
    {
        return m_polling;
    }

  protected:
    void DoDispose() override;

  private:
    template <class Entry>
    auto& Direct()
    {
        if constexpr (std::is_same_v<Entry, Ipv4RoutingTableEntry>)
        {
            return m_direct4;
        }
        else
        {
            return m_direct6;
        }
    }

    /** What the routes are computed from. */
    struct Input
    {
        std::vector<std::pair<bool, std::vector<viaduct::wire::IpPrefix>>>
            interfaces;                                  //!< up; addresses
        std::vector<std::vector<RouteCandidate>> routes; //!< of each protocol
        size_t connected{0}; //!< of them, those whose connected networks the kernel must be given
        bool operator==(const Input&) const = default;
    };

    void ScheduleUpdate();
    bool Refresh();
    void Apply();
    void Report(const viaduct::fib::RouteUpdate& update);
    void Poll();
    template <class Family>
    void Connect();
    template <class Family>
    Input Read(RouteReader& direct);
    template <class Family>
    void Merge(const Input& input);
    template <class Family>
    std::vector<RouteCandidate> TakeDecisions();
    template <class Family>
    void DecideOn(Ptr<typename Family::Protocol> unknown, const RouteCandidate& decision);
    template <class Family>
    bool IsIn(const RouteCandidate& decision, const viaduct::fib::RouteTable& table) const;
    template <class Family>
    viaduct::fib::RouteTable Below(Ptr<typename Family::Protocol> unknown) const;

    Ptr<Node> m_node;                              //!< whose routes
    std::map<Ptr<NetDevice>, std::string> m_names; //!< kernel names of devices
    LabAddresses m_known;                          //!< addresses of the lab
    Time m_pollInterval;                           //!< for protocols without traces
    Time m_retryInterval;                          //!< for refused routes
    bool m_polling{false};                         //!< some protocol is polled
    PushedRoutes<ipfamily::V4> m_direct4;          //!< routes that a program has pushed
    PushedRoutes<ipfamily::V6> m_direct6;          //!< the same of IPv6
    std::map<Ptr<Object>, std::shared_ptr<RouteReader>> m_readers; //!< by protocol
    std::function<bool(viaduct::wire::Family)> m_goesUp;           //!< packets without a route do
    /** A decision of the protocols, and when it was made or confirmed. */
    using Decision = std::pair<RouteCandidate, Time>;
    std::map<viaduct::wire::IpAddress, Decision> m_decisions; //!< by destination
    Time m_decisionTimeout;                                   //!< after their last use
    std::unique_ptr<viaduct::fib::RouteMirror> m_mirror;      //!< the routes of the data plane
    bool m_held{false};                                       //!< they stay as they are
    std::string m_refusal;                                    //!< of the last update
    Counters m_counters;                                      //!< except those of the sink
    Input m_input4;                                           //!< of the last merge
    Input m_input6;                                           //!< the same of IPv6
    viaduct::fib::RouteTable m_wanted;                        //!< the result of that merge
    std::shared_ptr<PollBudget> m_budget;                     //!< of the simulator
    EventId m_update;                                         //!< the coalesced update
    Time m_updated;                                           //!< when it was the last time
    EventId m_poll;                                           //!< the next poll
    EventId m_retry;                                          //!< of refused routes
    TracedCallback<uint32_t, uint32_t> m_pushedTrace;         //!< changes passed on
    TracedCallback<const viaduct::fib::RouteChanges&> m_changedTrace; //!< the changes themselves
    TracedCallback<uint32_t, const std::string&> m_refusedTrace;      //!< refusals
};

} // namespace ns3

#endif // VIADUCT_ROUTE_SOURCE_H
