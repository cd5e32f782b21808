/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/offload/test/route-test-support.h"

#include "ns3/offload/multicast-mirror.h"
#include "ns3/test.h"

#include "base/error.h"

#include <sys/eventfd.h>

/**
 * @file
 * @ingroup viaduct
 * Tests of when ns3::MulticastMirror requests the kernel's multicast table; no real table is used.
 */

using namespace ns3;
using namespace ns3::viaducttest;

namespace
{

/** A node with two interfaces and a MulticastMirror, whose requests for a table are counted. */
class MirroredNode
{
  public:
    /**
     * @param stack the node's Internet stack
     * @param hasTable whether the kernel has a table
     */
    MirroredNode(InternetStackHelper& stack, bool hasTable) : line(3, stack)
    {
        line.AssignIpv4();
        mirror->SetNode(line.nodes.Get(1), [this, hasTable](auto, const auto&) {
            calls++;
            if (!hasTable)
            {
                throw viaduct::EnvironmentError("no table");
            }
            return viaduct::UniqueFd(eventfd(0, EFD_NONBLOCK));
        });
        mirror->AddInterface(line.devices.Get(1), "eth0");
        mirror->AddInterface(line.devices.Get(2), "eth1");
        Simulator::ScheduleNow(&MulticastMirror::Start, mirror);
    }

    ~MirroredNode()
    {
        mirror->Dispose();
    }

    void RunUntil(Time end)
    {
        Simulator::Stop(end - Simulator::Now());
        Simulator::Run();
    }

    /** The line of three nodes; the middle node has the mirror. */
    Line line;
    Ptr<MulticastMirror> mirror = CreateObject<MulticastMirror>(); //!< the node's mirror
    int calls{0};                                                  //!< requests for a table
};

/** Tests that static routing needs a table when it has routes to groups, and that other protocols
 * may need one. */
class OpeningTestCase : public TestCase
{
  public:
    OpeningTestCase() : TestCase("a table is opened when a protocol may route multicast")
    {
    }

  private:
    void DoRun() override
    {
        InternetStackHelper fixed;
        fixed.SetRoutingHelper(Ipv4StaticRoutingHelper());
        {
            MirroredNode node(fixed, true);
            node.RunUntil(MilliSeconds(500));
            NS_TEST_EXPECT_MSG_EQ(node.calls, 0, "no routes to groups");
            AddRoute(node);
            node.RunUntil(Seconds(1));
            NS_TEST_EXPECT_MSG_EQ(node.calls, 1, "a route");
            NS_TEST_EXPECT_MSG_EQ(node.mirror->IsOpen(), true, "open");
        }
        {
            MirroredNode node(fixed, false);
            AddRoute(node);
            bool isRefused = false;
            try
            {
                node.RunUntil(MilliSeconds(500));
            }
            catch (const viaduct::EnvironmentError&)
            {
                isRefused = true;
            }
            NS_TEST_EXPECT_MSG_EQ(isRefused, true, "the routes cannot be honoured");
        }
        InternetStackHelper unknown;
        unknown.SetRoutingHelper(PushingHelper());
        MirroredNode node(unknown, false);
        node.RunUntil(Seconds(1));
        NS_TEST_EXPECT_MSG_EQ(node.calls, 1, "asked once, and not missed");
        NS_TEST_EXPECT_MSG_EQ(node.mirror->IsOpen(), false, "closed");
    }

    static void AddRoute(MirroredNode& node)
    {
        Ipv4StaticRoutingHelper helper;
        helper.GetStaticRouting(node.line.nodes.Get(1)->GetObject<Ipv4>())
            ->AddMulticastRoute(Ipv4Address::GetAny(), Ipv4Address("239.1.1.1"), 1, {2});
    }
};

class MulticastMirrorTestSuite : public TestSuite
{
  public:
    MulticastMirrorTestSuite() : TestSuite("viaduct-multicast-mirror", Type::UNIT)
    {
        AddTestCase(new OpeningTestCase, TestCase::Duration::QUICK);
    }
};

MulticastMirrorTestSuite g_multicastMirrorTestSuite; //!< registers the suite

} // namespace
