/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_ROUTE_SOURCE_H
#define VIADUCT_ROUTE_SOURCE_H

#include "ns3/routes/lab-addresses.h"
#include "ns3/routes/poll-budget.h"
#include "ns3/routes/route-reader.h"

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
 * to the node's data plane.
 *
 * The sources of routes, for each protocol found in the node (also inside list routing):
 *  - olsr::RoutingProtocol: the trace source RoutingTableChanged reports changes, and a public
 *    function returns the table.
 *  - a protocol with any of the trace sources RouteAdded, RouteRemoved (both
 *    `const Ipv4RoutingTableEntry&`, or Ipv6) and RoutingTableUpdated
 *    (`const std::vector<Ipv4RoutingTableEntry>&`, or Ipv6): the routes that the protocol pushes.
 *    The trace sources are the interface of T. B. Cardoso's thesis (2015, section 5.2.1).
 *  - ns-3's static, global, RIP and RIPng routing: their tables, read every PollInterval.
 *  - any other protocol: the table that the protocol prints, parsed again every PollInterval. The
 *    table of a user's protocol is used only while each row is understood, and while the table
 *    agrees with RouteOutput() for some of the new rows and with the decisions about packets passed
 *    up.
 *  - a user's protocol without such a table: the protocol's decisions about packets passed up
 *    (Decide()). Each decision is a route to one destination until the protocol decides otherwise,
 *    or no packet has used it for DecisionTimeout.
 *  - a user's protocol without such a table, if packets are not passed up: the answers of
 *    RouteOutput() for every address of the lab, unless the queries make the protocol look for
 *    routes.
 *
 * Destinations that a user's protocol does not route may be routed by the protocols below it in
 * list routing; so the routes of these protocols, too, are passed to the kernel only as decisions.
 *
 * RouteMerger merges all routes. A route that the data plane refuses is passed to it again with
 * every update, and every RetryInterval.
 */
class RouteSource : public Object
{
  public:
    /** The statistics of a RouteSource so far. */
    struct Counters : viaduct::fib::RouteCounters
    {
        uint64_t unmapped{0};       //!< routes omitted because their interface is not in the lab
        uint64_t missing{0};        //!< changes that the data plane refused at the last update
        uint64_t reads{0};          //!< number of times that all tables were read
        uint64_t merges{0};         //!< merges of the tables, made if a table has changed
        uint64_t polls{0};          //!< number of readings at the end of a poll interval
        viaduct::Duration pollCost; //!< processor time of polls and their merges
        Time pollIntervals;         //!< sum of the intervals that followed the polls
    };

    /** TracedCallback signature for Pushed: changes were passed to the data plane.
     * @param node the node's id
     * @param changes the number of routes added, replaced or removed
     */
    typedef void (*PushedTracedCallback)(uint32_t node, uint32_t changes);

    /** TracedCallback signature for Changed: the changes passed to the data plane.
     * @param changes the routes added, replaced and removed
     */
    typedef void (*ChangedTracedCallback)(const viaduct::fib::RouteChanges& changes);

    /**
     * TracedCallback signature for Refused: the data plane refused a route.
     * @param node the node's id
     * @param message a text about the refused route; an unchanged text is reported only once
     */
    typedef void (*RefusedTracedCallback)(uint32_t node, const std::string& message);

    /** @return the object TypeId */
    static TypeId GetTypeId();

    /**
     * Sets the node.
     * @param node the node whose routes are read
     * @param names the kernel's name for each device that is in the lab
     */
    void SetNode(Ptr<Node> node, const std::map<Ptr<NetDevice>, std::string>& names);
    /** @param sink the node's data plane, which receives the changes of routes */
    void SetSink(std::shared_ptr<viaduct::fib::RouteSink> sink);
    /** @param budget stretches the poll interval so that polling costs no more than the budget's
     * share; null: the interval is not stretched */
    void SetPollBudget(std::shared_ptr<PollBudget> budget)
    {
        m_budget = std::move(budget);
    }

    /** The method by which one protocol's routes are read. */
    struct Reading
    {
        std::string protocol; //!< the protocol's TypeId
        std::string method;   //!< the method, as in "printed table"
        std::string reason;   //!< reason why no better method is used; empty: none exists
        bool isByTable{true}; //!< whether the routes are from a table
    };

    /** @param goesUp a function that returns whether packets without a route are passed up to the
     * protocols, for a version of IP; called by Start() and later */
    void SetUpcalls(std::function<bool(viaduct::wire::Family)> goesUp)
    {
        m_goesUp = std::move(goesUp);
    }

    /**
     * Records a decision of the node's protocols about a packet that was passed up.
     * @param destination the packet's destination
     * @param gateway the next hop; unspecified: on link
     * @param device the device by which the packet leaves; null: the packet is not forwarded, or
     * not yet
     */
    void Decide(const viaduct::wire::IpAddress& destination,
                const viaduct::wire::IpAddress& gateway,
                Ptr<NetDevice> device);

    /** @return the current methods of reading the node's protocols, IPv4 protocols first */
    std::vector<Reading> GetReadings() const;

    /** @param addresses all addresses of the lab, for protocols that only answer RouteOutput() */
    void SetKnownAddresses(LabAddresses addresses)
    {
        m_known = std::move(addresses);
    }

    /**
     * Leaves the data plane unchanged until Release(). The protocols have been restarted, and at
     * first know fewer routes than before the restart, when they set the routes of the data plane
     * (as in RFC 4724, section 4.1). Must be called after SetSink() and before Start().
     * @param routes the current routes of the data plane
     */
    void Hold(viaduct::fib::RouteTable routes);
    /** Makes the data plane's routes equal to the protocols' routes, by applying the difference.
     * Has no effect unless Hold() was called. */
    void Release();

    /** Connects to the protocols and starts updates: the first update happens at once. */
    void Start();
    /** Reads all tables and applies the difference now. */
    void Update();
    /** Schedules an update soon, at most one per millisecond, however often the function is
     * called. */
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

    /** @param routes the complete table */
    template <class Entry>
    void RoutingTableUpdated(const std::vector<Entry>& routes)
    {
        Direct<Entry>().Update(routes);
        ScheduleUpdate();
    }

    /**@}*/

    /** @return the statistics so far */
    Counters GetCounters() const;
    /** @return a text with the routes that the data plane refused at the last update, and the
     * reason; empty: no route was refused */
    const std::string& GetRefusal() const
    {
        return m_refusal;
    }

    /** @return whether at least one protocol must be polled */
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

    /** The input from which the routes are computed. */
    struct Input
    {
        std::vector<std::pair<bool, std::vector<viaduct::wire::IpPrefix>>>
            interfaces;                                  //!< each interface's state and prefixes
        std::vector<std::vector<RouteCandidate>> routes; //!< routes of each protocol
        size_t connected{0}; //!< number of protocols whose routes to connected networks are needed
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

    Ptr<Node> m_node;                              //!< the node whose routes are read
    std::map<Ptr<NetDevice>, std::string> m_names; //!< kernel names of devices
    LabAddresses m_known;                          //!< addresses of the lab
    Time m_pollInterval;                           //!< attribute PollInterval
    Time m_retryInterval;                          //!< attribute RetryInterval
    bool m_polling{false};                         //!< whether some protocol is polled
    PushedRoutes<ipfamily::V4> m_direct4;          //!< routes that a program has pushed
    PushedRoutes<ipfamily::V6> m_direct6;          //!< IPv6 routes that a program has pushed
    std::map<Ptr<Object>, std::shared_ptr<RouteReader>> m_readers; //!< readers by protocol
    /** Returns whether packets without a route are passed up to the protocols. */
    std::function<bool(viaduct::wire::Family)> m_goesUp;
    /** A decision of the protocols, and the time at which it was made or confirmed. */
    using Decision = std::pair<RouteCandidate, Time>;
    std::map<viaduct::wire::IpAddress, Decision> m_decisions; //!< decisions by destination
    Time m_decisionTimeout;                                   //!< attribute DecisionTimeout
    std::unique_ptr<viaduct::fib::RouteMirror> m_mirror;      //!< the routes of the data plane
    bool m_held{false};                                       //!< true between Hold() and Release()
    std::string m_refusal;                                    //!< result of GetRefusal()
    Counters m_counters;                                      //!< counters except those of the sink
    Input m_input4;                                           //!< IPv4 input of the last merge
    Input m_input6;                                           //!< IPv6 input of the last merge
    viaduct::fib::RouteTable m_wanted;                        //!< result of the last merge
    std::shared_ptr<PollBudget> m_budget;                     //!< the simulator's budget
    EventId m_update;                                         //!< event of the scheduled update
    Time m_updated;                                           //!< time of the last update
    EventId m_poll;                                           //!< event of the next poll
    EventId m_retry;                                          //!< event of the next retry
    TracedCallback<uint32_t, uint32_t> m_pushedTrace;         //!< trace source Pushed
    TracedCallback<const viaduct::fib::RouteChanges&> m_changedTrace; //!< trace source Changed
    TracedCallback<uint32_t, const std::string&> m_refusedTrace;      //!< trace source Refused
};

} // namespace ns3

#endif // VIADUCT_ROUTE_SOURCE_H
