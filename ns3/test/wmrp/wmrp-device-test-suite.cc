/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "../viaduct-test-support.h"

#include "ns3/device-replacement.h"
#include "ns3/rbridge.h"
#include "ns3/simple-channel.h"
#include "ns3/simple-net-device.h"
#include "ns3/test.h"

#include <algorithm>

/**
 * @file
 * @ingroup viaduct
 * Tests of ns3::RBridge over the devices of a lab.
 */

using namespace ns3;
using namespace ns3::viaducttest;

namespace
{

/** Ports whose simulated devices are replaced by those of a lab, as LabHelper does. */
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
        // IGMP has an IPv4 option (RFC 3376 section 4); a broadcast whose IPv4 header is cut.
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

/** The tests. */
class WmrpDeviceTestSuite : public TestSuite
{
  public:
    WmrpDeviceTestSuite() : TestSuite("viaduct-wmrp-device", Type::UNIT)
    {
        AddTestCase(new ReplacedPortsTestCase, TestCase::Duration::QUICK);
    }
};

WmrpDeviceTestSuite g_wmrpDeviceTestSuite; //!< registers the suite

} // namespace
