/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/offload/test/route-test-support.h"

#include "ns3/base/wire-conversion.h"
#include "ns3/ipv4-list-routing-helper.h"
#include "ns3/ipv4-list-routing.h"
#include "ns3/ipv4-route.h"
#include "ns3/ipv6-route.h"
#include "ns3/olsr-helper.h"
#include "ns3/olsr-routing-protocol.h"
#include "ns3/rip-helper.h"
#include "ns3/ripng-helper.h"
#include "ns3/test.h"

#include <memory>

/**
 * @file
 * @ingroup viaduct
 * Tests of ns3::RouteSource.
 */

using namespace ns3;
using namespace ns3::viaducttest;
using viaduct::fib::RouteKey;
using viaduct::wire::IpAddress;
using viaduct::wire::IpPrefix;

namespace
{

/** @return the next hop that a node's protocol returns from RouteOutput(), in the format of
 * Line::Route() */
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

/** Tests that the mirrored table gives the same routes as the unchanged ns-3 protocol itself. */
class ProtocolTestCase : public TestCase
{
  public:
    /**
     * @param name the name of the case
     * @param helper makes the protocol
     * @param seconds seconds until the protocol has converged
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
    double m_seconds;                            //!< seconds until the protocol has converged
};

/** Tests OLSR: changes that its trace source reports, on-link host routes to neighbours, HNA, and
 * removal. */
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

/** Tests that the mirrored routes of RIPng, whose next hops are link-local, equal those of
 * RouteOutput(). */
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

/** Tests static routes that are difficult for kernels (default, on link, unreachable next hop, link
 * down), and the effect of priorities and metrics. */
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

/** Tests routes that are pushed by the protocol's trace sources, and by a direct call of
 * RouteSource. */
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

/** A protocol that prints no routing table that RouteSource could read. */
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

/** Tests that RouteSource calls RouteOutput() for a protocol that prints no table, and that a route
 * that the kernel refuses is reported once and tried again. */
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
        const LabAddressMap known{{IpAddress::Parse("10.0.1.1"), {}},
                                  {IpAddress::Parse("10.0.1.2"), {}}};
        source->SetKnownAddresses(std::make_shared<LabAddressMap>(known));
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

/** The test suite of ns3::RouteSource. */
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
        AddTestCase(new PushTestCase, TestCase::Duration::QUICK);
        AddTestCase(new QueryTestCase, TestCase::Duration::QUICK);
    }
};

RouteSourceTestSuite g_routeSourceTestSuite; //!< registers the suite

} // namespace
