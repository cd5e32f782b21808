/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/boolean.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/ipv4-global-routing-helper.h"
#include "ns3/ipv4-list-routing-helper.h"
#include "ns3/ipv4-list-routing.h"
#include "ns3/ipv4-route.h"
#include "ns3/ipv4-routing-helper.h"
#include "ns3/ipv4-static-routing-helper.h"
#include "ns3/ipv4-static-routing.h"
#include "ns3/ipv6-address-helper.h"
#include "ns3/ipv6-route.h"
#include "ns3/ipv6-static-routing-helper.h"
#include "ns3/names.h"
#include "ns3/node-container.h"
#include "ns3/nstime.h"
#include "ns3/object-factory.h"
#include "ns3/olsr-helper.h"
#include "ns3/olsr-routing-protocol.h"
#include "ns3/rip-helper.h"
#include "ns3/ripng-helper.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/route-source.h"
#include "ns3/simple-net-device-helper.h"
#include "ns3/simple-net-device.h"
#include "ns3/simulator.h"
#include "ns3/test.h"
#include "ns3/wire-conversion.h"

#include <functional>
#include <memory>

/**
 * @file
 * @ingroup viaduct
 * Tests of ns3::RouteSource.
 */

using namespace ns3;
using viaduct::fib::RouteKey;
using viaduct::fib::RouteTable;
using viaduct::wire::IpAddress;
using viaduct::wire::IpPrefix;

namespace
{

/** Passes the changes to a function. */
class FunctionSink : public viaduct::fib::RouteSink
{
  public:
    using Function = std::function<void(const viaduct::fib::RouteChanges&)>; //!< takes changes

    /** @param function takes the changes */
    explicit FunctionSink(Function function) : m_function(std::move(function))
    {
    }

  private:
    void DoApply(const viaduct::fib::RouteChanges& changes) override
    {
        m_function(changes);
    }

    Function m_function; //!< takes the changes
};

/** A line of nodes on SimpleNetDevices, and what a RouteSource finds in one of them. */
class Line
{
  public:
    /**
     * @param n nodes
     * @param stack with its routing helper set
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

    /** Gives every link 10.0.LINK.0/24. */
    void AssignIpv4()
    {
        Ipv4AddressHelper helper("10.0.0.0", "255.255.255.0");
        for (uint32_t i = 0; i < devices.GetN(); i += 2)
        {
            helper.Assign(NetDeviceContainer(devices.Get(i), devices.Get(i + 1)));
            helper.NewNetwork();
        }
    }

    /** Gives every link 2001:LINK::/64. */
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

    /** @param node whose routes. @return a source that keeps `table` up to date */
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
                    table[{route.destination, route.metric}] = route;
                }
            }
            for (const auto& route : changes.removed)
            {
                table.erase({route.destination, route.metric});
            }
        }));
        Simulator::ScheduleWithContext(
            nodes.Get(node)->GetId(), Time(0), &RouteSource::Start, source);
        sources.push_back(source);
        return source;
    }

    /** @return "gateway interface" of every next hop that a packet could take, or "" */
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

    NodeContainer nodes;                   //!< the line
    NetDeviceContainer devices;            //!< two a link
    std::vector<Ptr<RouteSource>> sources; //!< to be disposed of
    RouteTable table;                      //!< what was applied
    int pushes{0};                         //!< calls of the apply function
};

/** The protocol's own answer by RouteOutput, in the format of Line::Route(). */
std::string
Answer(Ptr<Node> node, const std::string& address)
{
    Ptr<Ipv4> ip = node->GetObject<Ipv4>();
    Ipv4Header header;
    header.SetDestination(Ipv4Address(address.c_str()));
    Socket::SocketErrno error;
    auto route = ip->GetRoutingProtocol()->RouteOutput(Create<Packet>(), header, nullptr, error);
    if (!route)
    {
        return "";
    }
    const int interface = ip->GetInterfaceForDevice(route->GetOutputDevice());
    std::string gateway = wireconversion::ToWire(route->GetGateway()).ToString();
    return (gateway == address ? "0.0.0.0" : gateway) + " eth" + std::to_string(interface - 1);
}

/** Unchanged protocols of ns-3: the mirrored table gives the same routes as the protocol. */
class ProtocolTestCase : public TestCase
{
  public:
    /**
     * @param name of the case
     * @param helper makes the protocol
     * @param seconds until it has converged
     */
    ProtocolTestCase(const std::string& name, const Ipv4RoutingHelper& helper, double seconds)
        : TestCase(name + ": mirrored routes equal RouteOutput"),
          m_helper(helper.Copy()),
          m_seconds(seconds)
    {
    }

  private:
    void DoRun() override
    {
        InternetStackHelper stack;
        stack.SetIpv6StackInstall(false);
        stack.SetRoutingHelper(*m_helper);
        Line line(4, stack);
        line.AssignIpv4();
        if (dynamic_cast<Ipv4GlobalRoutingHelper*>(m_helper.get()))
        {
            Ipv4GlobalRoutingHelper::PopulateRoutingTables();
        }
        auto source = line.Source(1);
        Simulator::Stop(Seconds(m_seconds));
        Simulator::Run();
        for (const char* address : {"10.0.2.1", "10.0.2.2"})
        {
            const std::string answer = Answer(line.nodes.Get(1), address);
            NS_TEST_EXPECT_MSG_EQ(answer, "10.0.1.2 eth1", address);
            NS_TEST_EXPECT_MSG_EQ(line.Route(address), answer, address);
        }
        NS_TEST_EXPECT_MSG_EQ(line.table.contains(RouteKey{IpPrefix::Parse("10.0.0.0/24"), 0}),
                              false,
                              "connected networks are the kernel's");
        NS_TEST_EXPECT_MSG_EQ(line.Route("10.0.0.2"), "", "own addresses are the kernel's");
        NS_TEST_EXPECT_MSG_EQ(source->GetCounters().unmapped, 0, "all interfaces are known");
        NS_TEST_EXPECT_MSG_GT(line.pushes, 0, "the table was pushed");
    }

    std::unique_ptr<Ipv4RoutingHelper> m_helper; //!< makes the protocol
    double m_seconds;                            //!< until it has converged
};

/** OLSR: by its trace source, host routes to neighbours on link, HNA, and one push per turn. */
class OlsrTestCase : public TestCase
{
  public:
    OlsrTestCase() : TestCase("OLSR: trace source, neighbours, HNA, removal")
    {
    }

  private:
    void DoRun() override
    {
        InternetStackHelper stack;
        stack.SetIpv6StackInstall(false);
        stack.SetRoutingHelper(OlsrHelper());
        Line line(3, stack);
        line.AssignIpv4();
        auto source = line.Source(0);
        line.nodes.Get(2)->GetObject<olsr::RoutingProtocol>()->AddHostNetworkAssociation(
            Ipv4Address("192.168.9.0"), Ipv4Mask("255.255.255.0"));
        Simulator::Stop(Seconds(20));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(line.Route("10.0.0.2"), "0.0.0.0 eth0", "a neighbour is on link");
        NS_TEST_EXPECT_MSG_EQ(line.Route("10.0.1.2"), "10.0.0.2 eth0", "two hops");
        NS_TEST_EXPECT_MSG_EQ(line.Route("192.168.9.77"), "10.0.0.2 eth0", "HNA");
        NS_TEST_EXPECT_MSG_EQ(source->IsPolling(), false, "its trace source is enough");

        line.nodes.Get(1)->GetObject<Ipv4>()->SetDown(1);
        Simulator::Stop(Seconds(20));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(line.Route("10.0.1.2"), "", "lost routes are removed");
        NS_TEST_EXPECT_MSG_GT(source->GetCounters().removed, 0, "and counted");
    }
};

/** RIPng: next hops are link-local addresses. */
class RipNgTestCase : public TestCase
{
  public:
    RipNgTestCase() : TestCase("RIPng: mirrored routes equal RouteOutput")
    {
    }

  private:
    void DoRun() override
    {
        InternetStackHelper stack;
        stack.SetIpv4StackInstall(true);
        stack.SetRoutingHelper(RipNgHelper());
        Line line(3, stack);
        line.AssignIpv6();
        line.Source(0);
        Simulator::Stop(Seconds(30));
        Simulator::Run();
        Ptr<Ipv6> ip = line.nodes.Get(0)->GetObject<Ipv6>();
        Ipv6Header header;
        header.SetDestination(Ipv6Address("2001:1:0:1::42"));
        Socket::SocketErrno error;
        auto route =
            ip->GetRoutingProtocol()->RouteOutput(Create<Packet>(), header, nullptr, error);
        NS_TEST_ASSERT_MSG_EQ((route != nullptr), true, "RIPng has converged");
        NS_TEST_EXPECT_MSG_EQ(line.Route("2001:1:0:1::42"),
                              wireconversion::ToWire(route->GetGateway()).ToString() + " eth0",
                              "the same next hop");
        for (const auto& [key, entry] : line.table)
        {
            NS_TEST_EXPECT_MSG_EQ(entry.destination.Contains(IpAddress::Parse("fe80::1")),
                                  false,
                                  "link-local is the kernel's: " + entry.destination.ToString());
        }
    }
};

/** Routes that are difficult for kernels, and the effect of priorities and metrics. */
class StaticTestCase : public TestCase
{
  public:
    StaticTestCase()
        : TestCase("static: default, on link, unreachable next hop, metrics, lists, link down")
    {
    }

  private:
    void DoRun() override
    {
        InternetStackHelper stack;
        stack.SetIpv6StackInstall(false);
        Ipv4ListRoutingHelper list;
        Ipv4StaticRoutingHelper low;
        list.Add(low, 0);
        list.Add(low, 5);
        stack.SetRoutingHelper(list);
        Line line(3, stack);
        line.AssignIpv4();
        Ptr<Ipv4> ip = line.nodes.Get(1)->GetObject<Ipv4>();
        auto routing = DynamicCast<Ipv4ListRouting>(ip->GetRoutingProtocol());
        int16_t priority;
        auto high = DynamicCast<Ipv4StaticRouting>(routing->GetRoutingProtocol(0, priority));
        auto second = DynamicCast<Ipv4StaticRouting>(routing->GetRoutingProtocol(1, priority));
        second->SetDefaultRoute("10.0.0.1", 1);
        second->AddHostRouteTo("172.16.0.1", 2);
        second->AddNetworkRouteTo("172.17.0.0", "255.255.0.0", "99.9.9.9", 2);
        second->AddNetworkRouteTo("172.18.0.0", "255.255.0.0", "10.0.0.1", 1, 5);
        second->AddNetworkRouteTo("172.18.0.0", "255.255.0.0", "10.0.1.2", 2, 3);
        second->AddHostRouteTo("172.19.0.7", "10.0.0.1", 1);
        high->AddNetworkRouteTo("172.19.0.0", "255.255.0.0", "10.0.1.2", 2);
        auto source = line.Source(1);
        Simulator::Stop(Seconds(1));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(line.Route("8.8.8.8"), "10.0.0.1 eth0", "default route");
        NS_TEST_EXPECT_MSG_EQ(line.Route("172.16.0.1"), "0.0.0.0 eth1", "on link");
        NS_TEST_EXPECT_MSG_EQ(line.Route("172.17.0.1"), "99.9.9.9 eth1", "as ns-3 has it");
        NS_TEST_EXPECT_MSG_EQ(line.Route("172.18.0.1"), "10.0.1.2 eth1", "the lower metric");
        NS_TEST_EXPECT_MSG_EQ(line.Route("172.19.0.7"),
                              "10.0.1.2 eth1",
                              "a higher priority hides longer prefixes of a lower one");
        NS_TEST_EXPECT_MSG_EQ(line.pushes, 1, "nothing changed since: one push");

        ip->SetDown(2);
        Simulator::Stop(Seconds(1));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(line.Route("172.16.0.1"), "10.0.0.1 eth0", "by the default now");
        NS_TEST_EXPECT_MSG_EQ(source->GetCounters().batches, 2, "one push more");
    }
};

/** Routes of equal cost in ns-3's tables are one multipath route; what is left of it stays. */
class EqualCostTestCase : public TestCase
{
  public:
    EqualCostTestCase()
        : TestCase("equal cost: static of IPv4 and IPv6, global on a ring, withdrawal")
    {
    }

  private:
    void DoRun() override
    {
        Static();
        Ring();
    }

    void Static()
    {
        InternetStackHelper stack;
        Line line(3, stack);
        line.AssignIpv4();
        line.AssignIpv6();
        auto ipv4 =
            Ipv4StaticRoutingHelper().GetStaticRouting(line.nodes.Get(1)->GetObject<Ipv4>());
        auto ipv6 =
            Ipv6StaticRoutingHelper().GetStaticRouting(line.nodes.Get(1)->GetObject<Ipv6>());
        for (int i = 0; i < 2; i++) // the same next hop twice is one
        {
            ipv4->AddNetworkRouteTo("172.16.0.0", "255.255.0.0", "10.0.1.2", 2, 4);
        }
        ipv4->AddNetworkRouteTo("172.16.0.0", "255.255.0.0", "10.0.0.1", 1, 4);
        ipv4->AddNetworkRouteTo("172.16.0.0", "255.255.0.0", "10.0.0.9", 1, 5);
        ipv6->AddNetworkRouteTo("2001:9::", Ipv6Prefix(32), "fe80::1", 1);
        ipv6->AddNetworkRouteTo("2001:9::", Ipv6Prefix(32), "fe80::2", 2);
        line.Source(1);
        Simulator::Stop(Seconds(5)); // after duplicate address detection
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(line.Route("172.16.0.1"), "10.0.0.1 eth0, 10.0.1.2 eth1", "IPv4");
        NS_TEST_EXPECT_MSG_EQ(line.Route("2001:9::1"), "fe80::1 eth0, fe80::2 eth1", "IPv6");
        line.nodes.Get(1)->GetObject<Ipv4>()->SetDown(1);
        line.nodes.Get(1)->GetObject<Ipv6>()->SetDown(2);
        Simulator::Stop(Seconds(1));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(line.Route("172.16.0.1"), "10.0.1.2 eth1", "the other one stays");
        NS_TEST_EXPECT_MSG_EQ(line.Route("2001:9::1"), "fe80::1 eth0", "and of IPv6");
    }

    void Ring()
    {
        InternetStackHelper stack;
        stack.SetIpv6StackInstall(false);
        stack.SetRoutingHelper(Ipv4GlobalRoutingHelper());
        Line line(4, stack);
        line.devices.Add(
            SimpleNetDeviceHelper().Install(NodeContainer(line.nodes.Get(3), line.nodes.Get(0))));
        for (uint32_t i = 0; i < line.devices.GetN(); i++)
        {
            // Global routing takes broadcast links as transit networks.
            DynamicCast<SimpleNetDevice>(line.devices.Get(i))
                ->SetAttribute("PointToPointMode", BooleanValue(true));
        }
        line.AssignIpv4();
        Ipv4GlobalRoutingHelper::PopulateRoutingTables();
        line.Source(0);
        Simulator::Stop(Seconds(1));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(line.Route("10.0.1.2"), "10.0.0.2 eth0, 10.0.3.1 eth1", "both ways");
        NS_TEST_EXPECT_MSG_EQ(line.Route("10.0.1.1"), "10.0.0.2 eth0", "the shorter way");
    }
};

/** A protocol that pushes through the thesis's three callbacks. */
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

    TracedCallback<const Ipv4RoutingTableEntry&> m_added;                //!< new routes
    TracedCallback<const Ipv4RoutingTableEntry&> m_removed;              //!< old routes
    TracedCallback<const std::vector<Ipv4RoutingTableEntry>&> m_updated; //!< whole tables
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

/** The push interface: by the protocol, and by a program. */
class PushTestCase : public TestCase
{
  public:
    PushTestCase() : TestCase("RouteAdded, RouteRemoved, RoutingTableUpdated")
    {
    }

  private:
    void DoRun() override
    {
        InternetStackHelper stack;
        stack.SetIpv6StackInstall(false);
        stack.SetRoutingHelper(PushingHelper());
        Line line(2, stack);
        line.AssignIpv4();
        auto source = line.Source(0);
        auto protocol = DynamicCast<PushingProtocol>(
            line.nodes.Get(0)->GetObject<Ipv4>()->GetRoutingProtocol());
        const auto a =
            Ipv4RoutingTableEntry::CreateNetworkRouteTo("172.16.0.0", "255.255.0.0", "10.0.0.2", 1);
        const auto b = Ipv4RoutingTableEntry::CreateHostRouteTo("172.17.0.1", "10.0.0.2", 1);
        Simulator::Schedule(Seconds(1), [&]() {
            protocol->m_added(a);
            protocol->m_added(b);
        });
        Simulator::Schedule(Seconds(2), [&]() {
            NS_TEST_EXPECT_MSG_EQ(line.pushes, 1, "two in one turn are one push");
            NS_TEST_EXPECT_MSG_EQ(line.table.size(), 2, "both are there");
            protocol->m_removed(a);
        });
        Simulator::Schedule(Seconds(3), [&]() {
            NS_TEST_EXPECT_MSG_EQ(line.Route("172.16.0.1"), "", "removed");
            protocol->m_updated({a});
        });
        Simulator::Schedule(Seconds(4), [&]() {
            NS_TEST_EXPECT_MSG_EQ(line.Route("172.16.0.1"), "10.0.0.2 eth0", "the new table");
            NS_TEST_EXPECT_MSG_EQ(line.Route("172.17.0.1"), "", "the new table only");
            source->RouteAdded(b);
        });
        Simulator::Stop(Seconds(5));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(line.Route("172.17.0.1"), "10.0.0.2 eth0", "by direct call");
        NS_TEST_EXPECT_MSG_EQ(source->IsPolling(), false, "nothing is polled");
    }
};

/** What a data plane refused is tried again although the protocol reports no change. */
class RetryTestCase : public TestCase
{
  public:
    RetryTestCase() : TestCase("refused routes of a protocol that is not polled are tried again")
    {
    }

  private:
    void DoRun() override
    {
        InternetStackHelper stack;
        stack.SetIpv6StackInstall(false);
        stack.SetRoutingHelper(PushingHelper());
        Line line(2, stack);
        line.AssignIpv4();
        auto source = line.Source(0);
        int calls = 0;
        source->SetSink(std::make_shared<FunctionSink>([&](const auto& changes) {
            calls++;
            if (calls == 1)
            {
                throw viaduct::fib::RouteError({{changes.added[0], "no"}}, 1);
            }
            if (calls == 2)
            {
                throw viaduct::Error("the broker is busy");
            }
        }));
        source->RouteAdded(Ipv4RoutingTableEntry::CreateHostRouteTo("172.17.0.1", "10.0.0.2", 1));
        Simulator::Stop(Seconds(1.5));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(calls, 2, "once more after a second");
        NS_TEST_EXPECT_MSG_EQ(source->GetCounters().missing, 1, "known to be missing");
        NS_TEST_EXPECT_MSG_EQ(source->GetRefusal(), "the broker is busy", "with the reason");
        Simulator::Stop(Seconds(5));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(calls, 3, "until it is taken, and then no more");
        NS_TEST_EXPECT_MSG_EQ(source->GetCounters().missing, 0, "nothing is missing");
        NS_TEST_EXPECT_MSG_EQ(source->GetRefusal(), "", "and nothing refused");
    }
};

/** A protocol whose output cannot be parsed. */
class SilentProtocol : public Ipv4StaticRouting
{
  public:
    /**
     * @brief Get the type ID.
     * @return the object TypeId
     */
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::viaducttest::SilentProtocol")
                                .SetParent<Ipv4StaticRouting>()
                                .AddConstructor<SilentProtocol>();
        return tid;
    }

    void PrintRoutingTable(Ptr<OutputStreamWrapper>, Time::Unit) const override
    {
    }
};

/** Makes SilentProtocol. */
class SilentHelper : public Ipv4RoutingHelper
{
  public:
    SilentHelper* Copy() const override
    {
        return new SilentHelper(*this);
    }

    Ptr<Ipv4RoutingProtocol> Create(Ptr<Node>) const override
    {
        return CreateObject<SilentProtocol>();
    }
};

/** RouteOutput() for a protocol without output; and a kernel that refuses routes. */
class QueryTestCase : public TestCase
{
  public:
    QueryTestCase()
        : TestCase(
              "RouteOutput for the lab's addresses; a refused route is told once and tried again")
    {
    }

  private:
    void DoRun() override
    {
        InternetStackHelper stack;
        stack.SetIpv6StackInstall(false);
        stack.SetRoutingHelper(SilentHelper());
        Line line(3, stack);
        line.AssignIpv4();
        auto protocol = DynamicCast<Ipv4StaticRouting>(
            line.nodes.Get(0)->GetObject<Ipv4>()->GetRoutingProtocol());
        protocol->AddNetworkRouteTo("10.0.1.0", "255.255.255.0", "10.0.0.2", 1);
        auto source = line.Source(0);
        source->SetKnownAddresses({IpAddress::Parse("10.0.1.1"), IpAddress::Parse("10.0.1.2")});
        std::vector<size_t> added;
        source->SetSink(std::make_shared<FunctionSink>([&](const auto& changes) {
            added.push_back(changes.added.size());
            if (added.size() < 3)
            {
                throw viaduct::fib::RouteError({{changes.added[0], "no"}}, added.back());
            }
        }));
        int told = 0;
        source->TraceConnectWithoutContext("Refused",
                                           Callback<void, uint32_t, const std::string&>(
                                               [&](uint32_t, const std::string&) { told++; }));
        Simulator::Stop(Seconds(1));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ((added == std::vector<size_t>{2, 1, 1}),
                              true,
                              "a host route an address, then the refused one until it is taken");
        NS_TEST_EXPECT_MSG_EQ(source->GetCounters().refused, 2, "counted");
        NS_TEST_EXPECT_MSG_EQ(source->GetCounters().added, 2, "what was taken");
        NS_TEST_EXPECT_MSG_EQ(told, 2, "each refusal, as they were different");
    }
};

/** The tests of routes. */
class RouteSourceTestSuite : public TestSuite
{
  public:
    RouteSourceTestSuite() : TestSuite("viaduct-route-source", Type::UNIT)
    {
        AddTestCase(new ProtocolTestCase("OLSR", OlsrHelper(), 30), TestCase::Duration::QUICK);
        AddTestCase(new ProtocolTestCase("RIP", RipHelper(), 30), TestCase::Duration::QUICK);
        AddTestCase(new ProtocolTestCase("global", Ipv4GlobalRoutingHelper(), 1),
                    TestCase::Duration::QUICK);
        AddTestCase(new OlsrTestCase, TestCase::Duration::QUICK);
        AddTestCase(new RipNgTestCase, TestCase::Duration::QUICK);
        AddTestCase(new StaticTestCase, TestCase::Duration::QUICK);
        AddTestCase(new EqualCostTestCase, TestCase::Duration::QUICK);
        AddTestCase(new PushTestCase, TestCase::Duration::QUICK);
        AddTestCase(new RetryTestCase, TestCase::Duration::QUICK);
        AddTestCase(new QueryTestCase, TestCase::Duration::QUICK);
    }
};

RouteSourceTestSuite g_routeSourceTestSuite; //!< registers the suite

} // namespace
