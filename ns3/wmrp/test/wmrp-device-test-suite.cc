/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/test/viaduct-test-support.h"
#include "ns3/wmrp/test/wmrp-test-network.h"

#include "ns3/offload/device-replacement.h"
#include "ns3/simple-channel.h"
#include "ns3/simple-net-device.h"
#include "ns3/test.h"
#include "ns3/wmrp/rbridge-shared-plane.h"
#include "ns3/wmrp/rbridge.h"
#ifdef VIADUCT_WITH_WIFI
#include "ns3/mobility-helper.h"
#include "ns3/yans-wifi-helper.h"
#endif

#include "plane/fib/rbridge_events.h"
#include "plane/forward/rbridge_tables.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <unistd.h>

/**
 * @file
 * @ingroup viaduct
 * Tests of ns3::RBridge over the devices of a lab.
 */

using namespace ns3;
using namespace ns3::viaducttest;

namespace
{

/** Tests an RBridge whose ports' simulated devices are replaced by devices of a lab, as LabHelper
 * does. */
class ReplacedPortsTestCase : public TestCase
{
  public:
    ReplacedPortsTestCase()
        : TestCase("a lab's devices take the ports, and get what IP cannot read")
    {
    }

  private:
    void DoRun() override
    {
        ReactorScope reactor;
        auto node = CreateObject<Node>();
        auto rbridge = CreateObject<RBridge>();
        rbridge->SetAttribute("Inhibition", TimeValue(Time(0)));
        node->AggregateObject(rbridge);
        std::vector<Ptr<NetDevice>> simulated;
        for (int i = 0; i < 2; i++)
        {
            auto device = CreateObject<SimpleNetDevice>();
            device->SetAddress(Mac48Address::Allocate());
            device->SetChannel(CreateObject<SimpleChannel>());
            node->AddDevice(device);
            rbridge->AddPort(device);
            simulated.push_back(device);
        }
        TestDevice a(node, "02:00:00:00:00:01");
        TestDevice b(node, "02:00:00:00:00:02");
        ReplaceDevice(node, simulated[0], a.device);
        ReplaceDevice(node, simulated[1], b.device);
        // Two frames that must be forwarded unchanged: an IGMP packet, which has an IPv4 option
        // (RFC 3376 section 4), and a broadcast whose IPv4 header is truncated.
        const Frame igmp = FromHex("01005e000016 020000000009 0800 4600 0020 0000 0000 0102 0000 "
                                   "0a000001 e0000016 94040000 2200 0000 0000 0000");
        const Frame cut = FromHex("ffffffffffff 020000000009 0800 4500 00");
        Simulator::Schedule(MilliSeconds(10), [&] {
            a.in->push_back(igmp);
            a.in->push_back(cut);
        });
        Simulator::Stop(MilliSeconds(50));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(rbridge->IsServing(a.device), true, "the new device is the port");
        NS_TEST_EXPECT_MSG_EQ(rbridge->IsServing(simulated[0]), false, "the old one is not");
        for (const Frame& frame : {igmp, cut})
        {
            NS_TEST_EXPECT_MSG_EQ(
                std::count(b.out->begin(), b.out->end(), frame), 1, "unchanged on the other port");
        }
        NS_TEST_EXPECT_MSG_EQ(a.device->GetTotalDrops(), 0, "nothing was dropped");
    }
};

/** Tests a data plane that a simulator takes over from a failed simulator. */
class HeldTablesTestCase : public TestCase
{
  public:
    HeldTablesTestCase()
        : TestCase("tables that are held stay, and are released as they are then, not as last told")
    {
    }

  private:
    void DoRun() override
    {
        ReactorScope reactor;
        auto node = CreateObject<Node>();
        auto rbridge = CreateObject<RBridge>();
        rbridge->SetAttribute("Inhibition", TimeValue(MilliSeconds(5)));
        node->AggregateObject(rbridge);
        TestDevice port(node, "02:00:00:00:00:01");
        rbridge->AddPort(port.device);
        auto memory = viaduct::forward::MakeSharedMemory("test-rbridge",
                                                         viaduct::forward::rbridge_tables::kWords,
                                                         viaduct::forward::Writers::kAll);
        viaduct::fib::EventMemory events;
        // The tables that the failed simulator has left in the shared memory.
        auto before = std::make_unique<viaduct::rbridge::Tables>();
        before->Clear();
        before->nickname = 4711;
        viaduct::forward::RBridgeTablesWriter(memory.mapping.writable()).Publish(*before);
        viaduct::forward::RBridgeTablesReader reader(memory.mapping.words());
        auto plane = std::make_unique<RBridgeSharedPlane>(
            *rbridge,
            node,
            viaduct::broker::Tables{.table = viaduct::UniqueFd(dup(memory.fd.get())),
                                    .table_words = viaduct::forward::rbridge_tables::kWords,
                                    .events = viaduct::UniqueFd(dup(events.ring.fd.get())),
                                    .doorbell = viaduct::UniqueFd(dup(events.bell.get()))});
        RBridgeSharedPlane& held = *plane;
        held.Hold();
        rbridge->SetPlane(std::move(plane));
        const auto release = [&] {
            NS_TEST_EXPECT_MSG_EQ(reader.Read().nickname, 4711, "held");
            held.Release();
            NS_TEST_EXPECT_MSG_EQ(reader.Read().nickname, rbridge->GetNickname(), "released");
            NS_TEST_EXPECT_MSG_EQ(unsigned{reader.Read().ports[0].serves_terminals},
                                  1,
                                  "what has changed just now is among it");
            m_released = true;
            Simulator::Stop();
        };
        // Checks every 50 us whether the port serves terminals, so that Release() runs soon after
        // the port has begun to serve terminals, before the RBridge publishes the change.
        std::function<void()> watch = [&] {
            if (rbridge->IsServing(port.device))
            {
                release();
            }
            else
            {
                Simulator::Schedule(MicroSeconds(50), watch);
            }
        };
        Simulator::ScheduleNow(watch);
        Simulator::Stop(Seconds(10));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(m_released, true, "the port serves terminals in the end");
    }

    bool m_released{false}; //!< whether the function release() has run
};

#ifdef VIADUCT_WITH_WIFI

/** Tests a line of RBridges in which each hears only its neighbours, by ad hoc Wi-Fi. */
class WifiTestCase : public TestCase
{
  public:
    WifiTestCase() : TestCase("ad hoc Wi-Fi connects RBridges")
    {
    }

  private:
    void DoRun() override
    {
        WmrpNetwork network(3);
        Terminal& first = network.AddTerminal({0});
        Terminal& last = network.AddTerminal({2});
        const NodeContainer nodes = network.GetNodes();
        YansWifiChannelHelper channel;
        channel.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel");
        channel.AddPropagationLoss("ns3::RangePropagationLossModel", "MaxRange", DoubleValue(120));
        YansWifiPhyHelper phy;
        phy.SetChannel(channel.Create());
        WifiMacHelper mac;
        mac.SetType("ns3::AdhocWifiMac");
        WifiHelper().Install(phy, mac, nodes);
        MobilityHelper mobility;
        mobility.SetPositionAllocator("ns3::GridPositionAllocator", "DeltaX", DoubleValue(100));
        mobility.Install(nodes);
        network.Start();
        NS_TEST_EXPECT_MSG_EQ(network.CountReachable(), 6, "converged");
        NS_TEST_EXPECT_MSG_EQ(network.Get(0)->GetNextHop(network.Get(2)->GetNickname()),
                              network.Get(0)->GetNextHop(network.Get(1)->GetNickname()),
                              "by the one between, who alone is in range");
        network.Send(first, last.Address(), 1500);
        network.Run(0.5);
        network.Send(last, first.Address(), 1500);
        network.Run(0.5);
        NS_TEST_EXPECT_MSG_EQ(last.arrivals.size(), 1, "flooded");
        NS_TEST_EXPECT_MSG_EQ(first.arrivals.size(), 1, "to a known terminal");
    }
};

#endif

/** The suite of the tests in this file. */
class WmrpDeviceTestSuite : public TestSuite
{
  public:
    WmrpDeviceTestSuite() : TestSuite("viaduct-wmrp-device", Type::UNIT)
    {
        AddTestCase(new ReplacedPortsTestCase, TestCase::Duration::QUICK);
        AddTestCase(new HeldTablesTestCase, TestCase::Duration::QUICK);
#ifdef VIADUCT_WITH_WIFI
        AddTestCase(new WifiTestCase, TestCase::Duration::QUICK);
#endif
    }
};

WmrpDeviceTestSuite g_wmrpDeviceTestSuite; //!< registers the suite

} // namespace
