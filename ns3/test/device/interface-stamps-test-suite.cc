/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "interface-test-support.h"

#include "base/realtime.h"

#include <sstream>

/**
 * @file
 * @ingroup viaduct
 * Tests of whose stamps of frames count: attribute Timestamps of ns3::RingNetDevice. Interfaces
 * whose card has a clock are not at hand: the conversion of its stamps is in base/clock_relation,
 * switching them on in sys/card/hardware_stamps.
 */

using namespace ns3;
using namespace ns3::viaducttest;

namespace
{

const char* const STAMPED_FRAME = "020000000001 020000000002 88b5 00";

/** @return what a device prints of its timing */
std::string
Printed(Ptr<RingNetDevice> device)
{
    std::ostringstream printed;
    device->PrintTiming(printed);
    return printed.str();
}

/** Interfaces whose card has no clock. */
class NoCardTestCase : public PortTestCase
{
  public:
    NoCardTestCase()
        : PortTestCase("AfPacket",
                       "stamps of a card that has no clock are refused, or the kernel's")
    {
    }

  private:
    /** Expect a refusal. */
    void Expect(Ptr<RingNetDevice> device, const std::string& why)
    {
        device->SetAttribute("Timestamps", StringValue("Hardware"));
        const std::string refusal = Refusal(device);
        NS_TEST_EXPECT_MSG_NE(refusal.find(why), std::string::npos, refusal);
        NS_TEST_EXPECT_MSG_EQ(refusal.find('\n'), std::string::npos, "one line");
        NS_TEST_EXPECT_MSG_EQ(device->GetPort(), nullptr, "nothing is open");
        device->Dispose();
    }

    void RunOnInterfaces() override
    {
        ReactorScope reactor(TestTime::REAL);
        TestInterface link;
        auto outside = link.Outside();
        Ptr<RingNetDevice> either = link.MakeDevice("AfPacket");
        either->SetAttribute("Timestamps", StringValue("Auto"));
        NS_TEST_EXPECT_MSG_EQ(Refusal(either), "", "the kernel's instead");
        int received = 0;
        either->SetReceiveCallback(
            Callback<bool, Ptr<NetDevice>, Ptr<const Packet>, uint16_t, const Address&>(
                [&](Ptr<NetDevice>, Ptr<const Packet>, uint16_t, const Address&) {
                    received++;
                    return true;
                }));
        Simulator::Schedule(MilliSeconds(1), [&] {
            viaduct::io::SendFrame(outside, FromHex("ffffffffffff 020000000002 88b5 00"));
            StopWhen([&] { return received > 0; });
        });
        Simulator::Run();
        const std::string printed = Printed(either);
        NS_TEST_EXPECT_MSG_NE(
            printed.find("time stamps: the kernel's (b0 has no hardware stamps: "),
            std::string::npos,
            printed);
        NS_TEST_EXPECT_MSG_NE(
            printed.find("frames stamped on arrival"), std::string::npos, printed);
        NS_TEST_EXPECT_MSG_GT(either->GetTiming().received.Max(), 0, "and they count");
        Expect(link.MakeDevice("AfPacket"),
               "b0 has no hardware stamps: its driver has no clock of a card");
        Expect(link.MakeDevice("AfPacketThreads"), "b0 has no hardware stamps");
        if (WhyNoPort("AfXdp").empty())
        {
            Expect(link.MakeDevice("AfXdp"), "Timestamps=Hardware on b0");
        }
        link.network.b.Run("ip tuntap add tap0 mode tap; ip link set tap0 up");
        const std::pair<const char*, const char*> taps[] = {
            {"AfPacket", "tap0 has no hardware stamps"}, {"Tap", "Timestamps=Hardware on tap0"}};
        for (const auto& [kind, why] : taps)
        {
            Ptr<RingNetDevice> tap = link.MakeDevice(kind);
            tap->SetAttribute("Interface", StringValue("tap0"));
            Expect(tap, why);
        }
        Simulator::Destroy();
    }
};

/** Stamps that do not count. */
class UserTestCase : public TestCase
{
  public:
    UserTestCase() : TestCase("by User, frames count from when the port was last seen empty")
    {
    }

  private:
    void DoRun() override
    {
        for (const std::string whose : {"Software", "User"})
        {
            ReactorScope reactor;
            TestDevice d(CreateObject<Node>(), "02:00:00:00:00:01");
            d.device->SetAttribute("Timestamps", StringValue(whose));
            d.port->m_describe = [](viaduct::io::ReceivedFrame& frame) {
                frame.received = viaduct::RealtimeNow() - viaduct::Duration::Seconds(3);
            };
            Simulator::Schedule(MilliSeconds(1), [&] { d.in->push_back(FromHex(STAMPED_FRAME)); });
            Simulator::Stop(MilliSeconds(40));
            Simulator::Run();
            const auto& received = d.device->GetTiming().received;
            NS_TEST_EXPECT_MSG_EQ(received.Count(), 1, whose);
            NS_TEST_EXPECT_MSG_EQ((received.Max() > 2'900'000'000), (whose == "Software"), whose);
        }
    }
};

/** The tests of the attribute Timestamps. */
class InterfaceStampsTestSuite : public TestSuite
{
  public:
    InterfaceStampsTestSuite() : TestSuite("viaduct-interface-stamps", Type::UNIT)
    {
        AddTestCase(new NoCardTestCase, TestCase::Duration::QUICK);
        AddTestCase(new UserTestCase, TestCase::Duration::QUICK);
    }
};

InterfaceStampsTestSuite g_interfaceStampsTestSuite; //!< registers the suite

} // namespace
