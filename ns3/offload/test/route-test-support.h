/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_ROUTE_TEST_SUPPORT_H
#define VIADUCT_ROUTE_TEST_SUPPORT_H

#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/ipv4-global-routing-helper.h"
#include "ns3/ipv4-routing-helper.h"
#include "ns3/ipv4-static-routing-helper.h"
#include "ns3/ipv4-static-routing.h"
#include "ns3/ipv6-address-helper.h"
#include "ns3/ipv6-static-routing-helper.h"
#include "ns3/node-container.h"
#include "ns3/object-factory.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/routes/route-source.h"
#include "ns3/simple-net-device-helper.h"
#include "ns3/simulator.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup viaduct
 * Support for tests of ns3::RouteSource: nodes, a data plane that is only a table, and a protocol
 * that pushes its routes.
 */

namespace ns3::viaducttest
{

using viaduct::wire::IpAddress;

/** Passes changes of routes to a function. */
class FunctionSink : public viaduct::fib::RouteSink
{
  public:
    /** Receives route changes. */
    using Function = std::function<void(const viaduct::fib::RouteChanges&)>;

    /** @param function receives the changes */
    explicit FunctionSink(Function function) : m_function(std::move(function))
    {
    }

  private:
    void DoApply(const viaduct::fib::RouteChanges& changes) override
    {
        m_function(changes);
    }

    Function m_function; //!< receives the changes
};

/** A line of nodes on SimpleNetDevices, and the routes that a RouteSource finds in one of the
 * nodes. */
class Line
{
  public:
    /**
     * @param n the number of nodes
     * @param stack the Internet stack, with its routing helper set
     */
    Line(uint32_t n, InternetStackHelper& stack)
    {
        Simulator::Destroy();
        RngSeedManager::SetSeed(1);
        nodes.Create(n);
        stack.Install(nodes);
        SimpleNetDeviceHelper helper;
        for (uint32_t i = 0; i + 1 < n; i++)
        {
            devices.Add(helper.Install(NodeContainer(nodes.Get(i), nodes.Get(i + 1))));
        }
    }

    ~Line()
    {
        for (auto& source : sources)
        {
            source->Dispose();
        }
        Simulator::Destroy();
    }

    /** Assigns each link the network 10.0.LINK.0/24, where LINK is the link's number, from 0. */
    void AssignIpv4()
    {
        Ipv4AddressHelper helper("10.0.0.0", "255.255.255.0");
        for (uint32_t i = 0; i < devices.GetN(); i += 2)
        {
            helper.Assign(NetDeviceContainer(devices.Get(i), devices.Get(i + 1)));
            helper.NewNetwork();
        }
    }

    /** Assigns each link the network 2001:1:0:LINK::/64, where LINK is the link's number, from 0,
     * and enables IPv6 forwarding. */
    void AssignIpv6()
    {
        Ipv6AddressHelper helper("2001:1::", Ipv6Prefix(64));
        for (uint32_t i = 0; i < devices.GetN(); i += 2)
        {
            auto interfaces = helper.Assign(NetDeviceContainer(devices.Get(i), devices.Get(i + 1)));
            interfaces.SetForwarding(0, true);
            interfaces.SetForwarding(1, true);
            helper.NewNetwork();
        }
    }

    /** @param node number of the node whose routes are read. @return a source that keeps `table` up
     * to date */
    Ptr<RouteSource> Source(uint32_t node)
    {
        std::map<Ptr<NetDevice>, std::string> names;
        for (uint32_t i = 0; i < devices.GetN(); i++)
        {
            if (devices.Get(i)->GetNode() == nodes.Get(node))
            {
                names[devices.Get(i)] = "eth" + std::to_string(names.size());
            }
        }
        auto source = CreateObject<RouteSource>();
        source->SetNode(nodes.Get(node), names);
        source->SetSink(std::make_shared<FunctionSink>([this](const auto& changes) {
            pushes++;
            for (const auto* list : {&changes.replaced, &changes.added})
            {
                for (const auto& route : *list)
                {
                    table[KeyOf(route)] = route;
                }
            }
            for (const auto& route : changes.removed)
            {
                table.erase(KeyOf(route));
            }
        }));
        Simulator::ScheduleWithContext(
            nodes.Get(node)->GetId(), Time(0), &RouteSource::Start, source);
        sources.push_back(source);
        return source;
    }

    /** @return every next hop of the route to @p address as "gateway interface"; "" if there is no
     * route */
    std::string Route(const std::string& address) const
    {
        const IpAddress destination = IpAddress::Parse(address);
        const viaduct::fib::Route* best = nullptr;
        for (const auto& [key, route] : table)
        {
            if (route.destination.address.family == destination.family &&
                route.destination.Contains(destination) &&
                (!best || route.destination.length > best->destination.length))
            {
                best = &route;
            }
        }
        std::string text;
        for (size_t i = 0; best && i < best->next_hops.size(); i++)
        {
            const auto& hop = best->next_hops[i];
            text += (i > 0 ? ", " : "") + hop.gateway.ToString() + " " + hop.interface;
        }
        return text;
    }

    NodeContainer nodes;                   //!< the nodes in the order of the line
    NetDeviceContainer devices;            //!< two devices for each link
    std::vector<Ptr<RouteSource>> sources; //!< all sources, disposed of at the end
    viaduct::fib::RouteTable table;        //!< the applied routes
    int pushes{0};                         //!< number of times that routes were pushed to `table`
};

/** A protocol that pushes its routes through the three trace sources of the thesis: RouteAdded,
 * RouteRemoved and RoutingTableUpdated. */
class PushingProtocol : public Ipv4StaticRouting
{
  public:
    /**
     * @brief Get the type ID.
     * @return the object TypeId
     */
    static TypeId GetTypeId()
    {
        static TypeId tid =
            TypeId("ns3::viaducttest::PushingProtocol")
                .SetParent<Ipv4StaticRouting>()
                .AddConstructor<PushingProtocol>()
                .AddTraceSource("RouteAdded",
                                "A route is new.",
                                MakeTraceSourceAccessor(&PushingProtocol::m_added),
                                "ns3::TracedCallback")
                .AddTraceSource("RouteRemoved",
                                "A route is no more.",
                                MakeTraceSourceAccessor(&PushingProtocol::m_removed),
                                "ns3::TracedCallback")
                .AddTraceSource("RoutingTableUpdated",
                                "The table is another one.",
                                MakeTraceSourceAccessor(&PushingProtocol::m_updated),
                                "ns3::TracedCallback");
        return tid;
    }

    TracedCallback<const Ipv4RoutingTableEntry&> m_added;                //!< trace of new routes
    TracedCallback<const Ipv4RoutingTableEntry&> m_removed;              //!< trace of lost routes
    TracedCallback<const std::vector<Ipv4RoutingTableEntry>&> m_updated; //!< trace of full tables
};

/** Makes PushingProtocol. */
class PushingHelper : public Ipv4RoutingHelper
{
  public:
    PushingHelper* Copy() const override
    {
        return new PushingHelper(*this);
    }

    Ptr<Ipv4RoutingProtocol> Create(Ptr<Node>) const override
    {
        ObjectFactory factory;
        factory.SetTypeId(PushingProtocol::GetTypeId());
        return factory.Create<Ipv4RoutingProtocol>();
    }
};

} // namespace ns3::viaducttest

#endif // VIADUCT_ROUTE_TEST_SUPPORT_H
