/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/offload/test/route-test-support.h"

#include "ns3/base/global-routing-class.h"
#include "ns3/boolean.h"
#include "ns3/simple-net-device.h"
#include "ns3/test.h"

#include "base/clock.h"

#include <memory>

/**
 * @file
 * @ingroup viaduct
 * Tests of ns3::RouteSource: several next hops, the cost of polling, and refused routes.
 */

using namespace ns3;
using namespace ns3::viaducttest;

namespace
{

/** Tests that routes of equal cost in ns-3's tables become one multipath route, and that the route
 * keeps its remaining next hops when one next hop is withdrawn. */
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
        for (int i = 0; i < 2; i++) // adds one next hop twice; it must count once
        {
            ipv4->AddNetworkRouteTo("172.16.0.0", "255.255.0.0", "10.0.1.2", 2, 4);
        }
        ipv4->AddNetworkRouteTo("172.16.0.0", "255.255.0.0", "10.0.0.1", 1, 4);
        ipv4->AddNetworkRouteTo("172.16.0.0", "255.255.0.0", "10.0.0.9", 1, 5);
        ipv6->AddNetworkRouteTo("2001:9::", Ipv6Prefix(32), "fe80::1", 1);
        ipv6->AddNetworkRouteTo("2001:9::", Ipv6Prefix(32), "fe80::2", 2);
        line.Source(1);
        Simulator::Stop(Seconds(5)); // duplicate address detection has ended by then
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
            // Sets the links to point-to-point mode: global routing treats broadcast links as
            // transit networks.
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

/** Tests the cost of reading 10,000 routes: the numbers of reads and merges, and the time on a
 * clock that the test advances. */
class ManyRoutesTestCase : public TestCase
{
  public:
    ManyRoutesTestCase()
        : TestCase("10,000 polled routes: merged when changed, read within a share")
    {
    }

  private:
    void DoRun() override
    {
        InternetStackHelper stack;
        stack.SetIpv6StackInstall(false);
        stack.SetRoutingHelper(Ipv4GlobalRoutingHelper());
        Line line(2, stack);
        line.AssignIpv4();
        auto routing = DynamicCast<Ipv4GlobalRouting>(
            line.nodes.Get(0)->GetObject<Ipv4>()->GetRoutingProtocol());
        for (uint32_t i = 0; i < 10000; i++)
        {
            routing->AddHostRouteTo(Ipv4Address(0x14000000 + i), "10.0.0.2", 1);
        }
        viaduct::ManualClock clock;
        auto budget = std::make_shared<PollBudget>(0.05, [&clock] {
            clock.Advance(viaduct::Duration::Milliseconds(5)); // simulates a read of 5 ms
            return clock.Now();
        });
        budget->Join(); // a second node shares the budget
        auto source = line.Source(0);
        source->SetPollBudget(budget);
        Simulator::Stop(Seconds(10.1));
        Simulator::Run();
        const auto before = source->GetCounters();
        NS_TEST_EXPECT_MSG_EQ(line.table.size(), 10000, "all are mirrored");
        NS_TEST_EXPECT_MSG_EQ(before.merges, 1, "merged once, as nothing changes");
        // The budget is 5 ms of every 100 ms for two nodes, so a node whose read takes 5 ms polls
        // every 200 ms.
        NS_TEST_EXPECT_MSG_EQ_TOL(before.polls, 51, 1, "the interval fits the cost");
        NS_TEST_EXPECT_MSG_EQ(before.reads, before.polls + 1, "and each poll reads once");
        NS_TEST_EXPECT_MSG_EQ(before.pollIntervals, MilliSeconds(200) * before.polls, "as told");
        const auto cost = static_cast<int64_t>(5'000'000 * before.polls);
        NS_TEST_EXPECT_MSG_EQ(before.pollCost.nanoseconds(), cost, "and why");

        routing->RemoveRoute(0);
        Simulator::Stop(Seconds(1));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(source->GetCounters().merges, 2, "a change is merged");
        NS_TEST_EXPECT_MSG_EQ(line.table.size(), 9999, "and mirrored");
        NS_TEST_EXPECT_MSG_EQ(line.pushes, 2, "as one change");
    }
};

/** Tests that routes that a data plane refused are applied again although the protocol reports no
 * change. */
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

/** The test suite of routes of equal cost, many routes, and refused routes. */
class RouteUpkeepTestSuite : public TestSuite
{
  public:
    RouteUpkeepTestSuite() : TestSuite("viaduct-route-upkeep", Type::UNIT)
    {
        AddTestCase(new EqualCostTestCase, TestCase::Duration::QUICK);
        AddTestCase(new ManyRoutesTestCase, TestCase::Duration::QUICK);
        AddTestCase(new RetryTestCase, TestCase::Duration::QUICK);
    }
};

RouteUpkeepTestSuite g_routeUpkeepTestSuite; //!< registers the suite

} // namespace
