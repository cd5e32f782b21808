/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/device/test/interface-test-support.h"

#include "port/xdp/xdp_port.h"

/**
 * @file
 * @ingroup viaduct
 * Tests of the opening of interfaces by ns3::RingNetDevice: attribute Port.
 */

using namespace ns3;
using namespace ns3::viaducttest;

namespace
{

/** @return the attribute PortDescription of a device */
std::string
DescriptionOf(Ptr<RingNetDevice> device)
{
    StringValue text;
    device->GetAttribute("PortDescription", text);
    return text.Get();
}

/** Tests that each value of the attribute Port opens its kind of port, and that a device describes
 * its port and closes it when disposed. */
class ChoiceTestCase : public PortTestCase
{
  public:
    explicit ChoiceTestCase(const std::string& kind)
        : PortTestCase(kind, "is opened, says how it works, and ends with its device")
    {
    }

  private:
    void RunOnInterfaces() override
    {
        ReactorScope reactor(TestTime::REAL);
        TestInterface link;
        auto outside = link.Outside();
        const bool xdp = m_kind.rfind("AfXdp", 0) == 0;
        Ptr<RingNetDevice> device = link.MakeDevice(m_kind);
        device->SetAttribute("Filter", StringValue("ether proto 0x88b5"));
        NS_TEST_EXPECT_MSG_EQ(DescriptionOf(device), "", "nothing is open");
        NS_TEST_EXPECT_MSG_EQ(Refusal(device), "", "opened");
        NS_TEST_EXPECT_MSG_EQ((dynamic_cast<viaduct::io::XdpPort*>(device->GetPort()) != nullptr),
                              xdp,
                              "what was asked for");
        const std::string description = DescriptionOf(device);
        const std::string expected = xdp                ? "AF_XDP: native mode, copy mode, 1 queue"
                                     : m_kind == "Dpdk" ? "DPDK "
                                                        : "AF_PACKET ring";
        NS_TEST_EXPECT_MSG_EQ(description.rfind(expected, 0), 0, description);
        int received = 0;
        device->SetReceiveCallback(
            Callback<bool, Ptr<NetDevice>, Ptr<const Packet>, uint16_t, const Address&>(
                [&](Ptr<NetDevice>, Ptr<const Packet>, uint16_t, const Address&) {
                    received++;
                    return true;
                }));
        Simulator::Schedule(MilliSeconds(1), [&] {
            viaduct::io::SendFrame(outside, FromHex("ffffffffffff 020000000002 88b6 00"));
            viaduct::io::SendFrame(outside, FromHex("ffffffffffff 020000000002 88b5 00"));
            StopWhen([&] { return received > 0; });
        });
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(received, 1, "what the filter matches");
        device->Dispose();
        NS_TEST_EXPECT_MSG_EQ(DescriptionOf(device), "", "closed");
        // A second device can open the interface, because the first device has restored its state.
        Ptr<RingNetDevice> next = link.MakeDevice(m_kind);
        NS_TEST_EXPECT_MSG_EQ(Refusal(next), "", "opened again");
        Simulator::Destroy();
    }
};

/** A device with Port=AfXdp refuses an interface without AF_XDP support; with Port=Auto, the device
 * uses AF_PACKET and reports the reason. */
class RefusalTestCase : public PortTestCase
{
  public:
    RefusalTestCase() : PortTestCase("AfXdp", "refused where it cannot be; Auto says why not")
    {
    }

  private:
    void RunOnInterfaces() override
    {
        ReactorScope reactor(TestTime::REAL);
        TestInterface link;
        link.network.b.Run("ip link add br0 type bridge; ip link set br0 up");
        for (const std::string kind : {"AfXdp", "Auto"})
        {
            const bool mayChoose = kind == "Auto";
            const auto expect = [&](Ptr<RingNetDevice> device, const std::string& why) {
                const std::string refusal = Refusal(device);
                const std::string said = mayChoose ? DescriptionOf(device) : refusal;
                NS_TEST_EXPECT_MSG_EQ(refusal.empty(), mayChoose, refusal);
                NS_TEST_EXPECT_MSG_NE(said.find(why), std::string::npos, said);
                NS_TEST_EXPECT_MSG_EQ(said.find('\n'), std::string::npos, "one line");
                NS_TEST_EXPECT_MSG_EQ(
                    (said.rfind("AF_PACKET ring (not AF_XDP: ", 0) == 0), mayChoose, said);
                device->Dispose();
            };
            Ptr<RingNetDevice> bridge = link.MakeDevice(kind);
            bridge->SetAttribute("Interface", StringValue("br0"));
            expect(bridge, "AF_XDP on interface br0: a software device of the kernel (bridge)");
            Ptr<RingNetDevice> shaped = link.MakeDevice(kind);
            shaped->SetAttribute("QdiscBypass", BooleanValue(false));
            expect(shaped, "AF_XDP bypasses the queueing discipline of b0");
            if (mayChoose)
            {
                expect(link.MakeDevice(kind), "the driver does not support zero-copy");
            }
            else
            {
                Ptr<RingNetDevice> first = link.MakeDevice(kind);
                NS_TEST_EXPECT_MSG_EQ(Refusal(first), "", "the first one");
                expect(link.MakeDevice(kind), "viaduct_redirec");
                first->Dispose();
            }
        }
        Simulator::Destroy();
    }
};

/** A device refuses attributes that belong to a different kind of port, and does not ignore them
 * silently. */
class OtherKindsTestCase : public PortTestCase
{
  public:
    OtherKindsTestCase() : PortTestCase("AfXdp", "refused with attributes of other ports")
    {
    }

  private:
    void RunOnInterfaces() override
    {
        ReactorScope reactor(TestTime::REAL);
        TestInterface link;
        for (const std::string kind : {"AfXdp", "Tap", "Dpdk", "Auto"})
        {
            Ptr<RingNetDevice> blocks = link.MakeDevice(kind);
            blocks->SetAttribute("RingBlocks", BooleanValue(true));
            NS_TEST_EXPECT_MSG_EQ(
                Refusal(blocks).rfind("RingBlocks requires Port=AfPacket", 0), 0, Refusal(blocks));
            blocks->Dispose();
            if (kind != "Tap")
            {
                Ptr<RingNetDevice> queues = link.MakeDevice(kind);
                queues->SetAttribute("Queues", UintegerValue(2));
                NS_TEST_EXPECT_MSG_EQ(
                    Refusal(queues).rfind("Queues requires Port=AfPacket or Port=Tap", 0),
                    0,
                    Refusal(queues));
                queues->Dispose();
            }
        }
        Simulator::Destroy();
    }
};

/** The tests of the attribute Port. */
class InterfacePortTestSuite : public TestSuite
{
  public:
    InterfacePortTestSuite() : TestSuite("viaduct-interface-port", Type::UNIT)
    {
        for (const std::string kind : PORT_KINDS)
        {
            AddTestCase(new ChoiceTestCase(kind), TestCase::Duration::QUICK);
        }
        AddTestCase(new RefusalTestCase, TestCase::Duration::QUICK);
        AddTestCase(new OtherKindsTestCase, TestCase::Duration::QUICK);
    }
};

InterfacePortTestSuite g_interfacePortTestSuite; //!< registers the suite

} // namespace
