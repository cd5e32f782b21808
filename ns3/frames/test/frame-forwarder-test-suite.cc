/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/test/viaduct-test-support.h"

#include "ns3/frames/frame-forwarder-helper.h"
#include "ns3/frames/frame-forwarder.h"
#include "ns3/node-container.h"
#include "ns3/path/path-helper.h"
#include "ns3/simple-channel.h"
#include "ns3/simple-net-device-helper.h"
#include "ns3/simulator.h"
#include "ns3/test.h"

#include "base/error.h"

#include <map>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup viaduct
 * Tests of ns3::FrameForwarder, in the simulator.
 */

using namespace ns3;

namespace
{

/** A star of hosts: each host is connected to a port of the forwarding node in the middle. */
struct Star
{
    explicit Star(const std::string& program, uint32_t hosts = 3)
    {
        middle = CreateObject<Node>();
        for (uint32_t i = 0; i < hosts; i++)
        {
            Ptr<Node> host = CreateObject<Node>();
            NetDeviceContainer ends = PathHelper().Install(NodeContainer(host, middle));
            devices.push_back(ends.Get(0));
            host->RegisterProtocolHandler(Callback<void,
                                                   Ptr<NetDevice>,
                                                   Ptr<const Packet>,
                                                   uint16_t,
                                                   const Address&,
                                                   const Address&,
                                                   NetDevice::PacketType>(
                                              [this, i](auto, auto packet, auto, auto, auto, auto) {
                                                  received[i]++;
                                                  bytes = packet->GetSize();
                                              }),
                                          TYPE,
                                          ends.Get(0),
                                          true);
        }
        forwarder = FrameForwarderHelper(program).Install(middle);
    }

    /** Sends a frame from one host to another, and runs the simulation for 250 ms. */
    void Send(uint32_t from, const Address& to, uint32_t size = 100)
    {
        Simulator::ScheduleNow(
            [this, from, to, size] { devices[from]->Send(Create<Packet>(size), to, TYPE); });
        // The simulation needs a stop time, because the periodic ticks of a bridge never end.
        Simulator::Stop(MilliSeconds(250));
        Simulator::Run();
    }

    static constexpr uint16_t TYPE = 0x88b5;
    Ptr<Node> middle;                      //!< the node that forwards
    Ptr<FrameForwarder> forwarder;         //!< forwarder of `middle`
    std::vector<Ptr<NetDevice>> devices;   //!< devices of the hosts
    std::map<uint32_t, uint32_t> received; //!< number of received frames, by host
    uint32_t bytes{0};                     //!< payload bytes of the last received frame
};

class ForwardsTestCase : public TestCase
{
  public:
    ForwardsTestCase() : TestCase("a bridge learns, a hub repeats")
    {
    }

  private:
    void DoRun() override
    {
        using Received = std::map<uint32_t, uint32_t>;
        {
            Star star("hub");
            std::vector<std::string> traced;
            star.forwarder->TraceConnectWithoutContext(
                "Frame",
                Callback<void, Ptr<const Packet>, uint32_t, std::string>(
                    [&](auto, uint32_t port, std::string outcome) {
                        traced.push_back(std::to_string(port) + " " + outcome);
                    }));
            star.Send(0, star.devices[1]->GetAddress());
            NS_TEST_EXPECT_MSG_EQ((star.received == Received{{1, 1}, {2, 1}}), true, "all others");
            NS_TEST_EXPECT_MSG_EQ(star.bytes, 100U, "whole");
            NS_TEST_EXPECT_MSG_EQ(traced.size(), 1U, "traced");
            NS_TEST_EXPECT_MSG_EQ(traced.at(0), "0 forwarded", "by its port");
            NS_TEST_EXPECT_MSG_EQ(star.forwarder->GetFrames().at("forwarded"), 1U, "counted");
            Simulator::Destroy();
        }
        Star star("bridge");
        star.Send(0, star.devices[1]->GetAddress()); // flooded, as the address is unknown
        star.Send(1, star.devices[0]->GetAddress());
        star.Send(2, star.devices[1]->GetAddress());
        NS_TEST_EXPECT_MSG_EQ((star.received == Received{{0, 1}, {1, 2}, {2, 1}}), true, "learnt");
        const auto frames = star.forwarder->GetFrames();
        NS_TEST_EXPECT_MSG_EQ(frames.at("flooded"), 1U, "the first");
        NS_TEST_EXPECT_MSG_EQ(frames.at("forwarded"), 2U, "the others");
        NS_TEST_EXPECT_MSG_EQ(frames.at("not-sent"), 0U, "none");
        Simulator::Destroy();
    }
};

class PortsTestCase : public TestCase
{
  public:
    PortsTestCase() : TestCase("one port, none, and what contradicts itself")
    {
    }

  private:
    void DoRun() override
    {
        Star one("hub", 1);
        one.Send(0, Mac48Address::GetBroadcast());
        NS_TEST_EXPECT_MSG_EQ(one.received.empty(), true, "there is no other port");
        NS_TEST_EXPECT_MSG_EQ(one.forwarder->GetNPorts(), 1U, "one");
        NS_TEST_EXPECT_MSG_EQ(one.forwarder->GetPortIndex(one.devices[0]), 1U, "another's device");
        NS_TEST_EXPECT_MSG_EQ(one.forwarder->IsReady(), true, "until told otherwise");
        one.forwarder->SetReady(false);
        NS_TEST_EXPECT_MSG_EQ(one.forwarder->IsReady(), false, "told");
        const Star none("bridge", 0);
        NS_TEST_EXPECT_MSG_EQ(none.forwarder->GetNPorts(), 0U, "none");
        NS_TEST_EXPECT_MSG_EQ(none.forwarder->GetFrames().empty(), true, "nothing to count");
        bool refused = false;
        try
        {
            none.forwarder->SetWord(0, 1); // throws: a bridge has no table
        }
        catch (const std::out_of_range&)
        {
            refused = true;
        }
        NS_TEST_EXPECT_MSG_EQ(refused, true, "no such word");
        refused = false;
        try
        {
            FrameForwarderHelper("router").Install(CreateObject<Node>());
        }
        catch (const viaduct::UsageError&)
        {
            refused = true;
        }
        NS_TEST_EXPECT_MSG_EQ(refused, true, "no such program");
        Simulator::Destroy();
    }
};

class FrameForwarderTestSuite : public TestSuite
{
  public:
    FrameForwarderTestSuite() : TestSuite("viaduct-frame-forwarder", Type::UNIT)
    {
        AddTestCase(new ForwardsTestCase, Duration::QUICK);
        AddTestCase(new PortsTestCase, Duration::QUICK);
    }
};

FrameForwarderTestSuite g_frameForwarderTestSuite; //!< registers the suite

} // namespace
