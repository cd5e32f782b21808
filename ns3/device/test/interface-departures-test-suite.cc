/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/device/test/interface-test-support.h"

#include "ns3/uinteger.h"

#include "sys/network/qdisc.h"

#include <sstream>

/**
 * @file
 * @ingroup viaduct
 * Tests of departure times on interfaces, where a queueing discipline or the simulator's clock
 * delays the frames. tests/ns3/device/test_departures.py runs the tests on a kernel in virtual
 * time, which has the queueing disciplines needed by the tests.
 */

using namespace ns3;
using namespace ns3::viaducttest;

namespace
{

/** Tests that a device reports what delays frames until their departure times: the interface's
 * qdisc if it supports departure times, otherwise the simulator's clock. */
class DeparturesTestCase : public PortTestCase
{
  public:
    DeparturesTestCase() : PortTestCase("AfPacket", "says what keeps departure times")
    {
    }

  private:
    /** @return the attribute Departures of a new device on the interface */
    std::string DeparturesOf(TestInterface& link)
    {
        Ptr<RingNetDevice> device = link.MakeDevice(m_kind);
        device->SetAttribute("QdiscBypass", BooleanValue(false));
        NS_TEST_EXPECT_MSG_EQ(Refusal(device), "", "opened");
        StringValue text;
        device->GetAttribute("Departures", text);
        device->Dispose();
        return text.Get();
    }

    void RunOnInterfaces() override
    {
        ReactorScope reactor(TestTime::REAL);
        TestInterface link;
        const std::string clock = "timed by the simulator's clock: ";
        NS_TEST_EXPECT_MSG_EQ(DeparturesOf(link),
                              clock + "the qdisc (noqueue) does not support departure times",
                              "none");
        link.network.b.Run("tc qdisc add dev b0 root pfifo");
        NS_TEST_EXPECT_MSG_EQ(DeparturesOf(link),
                              clock + "the qdisc (pfifo) does not support departure times",
                              "none that does");
        if (viaduct::sys::HasQdisc("fq"))
        {
            link.network.b.Run("tc qdisc replace dev b0 root fq");
            NS_TEST_EXPECT_MSG_EQ(
                DeparturesOf(link), "timed by the qdisc (fq, SO_TXTIME)", "it does");
        }
        Simulator::Destroy();
    }
};

/**
 * Tests that the qdisc fq sends frames at their departure times.
 * tests/ns3/device/test_departures.py runs the test on a kernel that has fq.
 */
class QdiscDeparturesTestCase : public PortTestCase
{
  public:
    QdiscDeparturesTestCase() : PortTestCase("AfPacket", "the qdisc keeps departure times")
    {
    }

  private:
    void RunOnInterfaces() override
    {
        if (!viaduct::sys::HasQdisc("fq"))
        {
            std::cout << "SKIPPED " << GetName() << ": this kernel has no fq" << std::endl;
            return;
        }
        ReactorScope reactor(TestTime::REAL);
        TestInterface link;
        // The qdisc fq holds at most 5 frames of a flow: the simulator's clock delays all other
        // frames.
        link.network.b.Run("tc qdisc add dev b0 root fq flow_limit 5");
        auto outside = link.Outside();
        Ptr<RingNetDevice> device = link.MakeDevice(m_kind);
        device->SetAttribute("QdiscBypass", BooleanValue(false));
        device->SetAttribute("DepartureQueueSize", UintegerValue(10));
        NS_TEST_EXPECT_MSG_EQ(Refusal(device), "", "opened");
        std::vector<int64_t> traced;
        device->TraceConnectWithoutContext(
            "MacTx", Callback<void, Ptr<const Packet>>([&](Ptr<const Packet>) {
                traced.push_back(Simulator::Now().GetMilliSeconds());
            }));
        int late = 0;
        device->TraceConnectWithoutContext("SentLate", Callback<void, Time>([&](Time) { late++; }));
        std::vector<Frame> arrived;
        const auto send = [&](uint8_t number, Time when) {
            Ptr<Packet> packet = Create<Packet>(&number, 1);
            packet->AddPacketTag(DepartureTag(when));
            NS_TEST_EXPECT_MSG_EQ(device->Send(packet, device->GetBroadcast(), 0x88b5), true, "");
        };
        constexpr int TOGETHER = 8;
        Simulator::Schedule(MilliSeconds(1), [&] {
            for (uint8_t number = 0; number < TOGETHER; ++number)
            {
                send(number, MilliSeconds(200));
            }
            send(21, MilliSeconds(310));
            send(20, MilliSeconds(300));
            StopWhen([&] {
                for (Frame& frame : TakeFrames(outside))
                {
                    arrived.push_back(std::move(frame));
                    NS_TEST_EXPECT_MSG_GT_OR_EQ(Simulator::Now(), MilliSeconds(199), "not early");
                }
                return arrived.size() >= TOGETHER + 2 && late >= TOGETHER + 2;
            });
        });
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(arrived.size(), TOGETHER + 2, "all");
        NS_TEST_EXPECT_MSG_EQ((arrived[TOGETHER][14] == std::byte{20}), true, "in order");
        NS_TEST_EXPECT_MSG_EQ((arrived[TOGETHER + 1][14] == std::byte{21}), true, "in order");
        NS_TEST_EXPECT_MSG_EQ(traced.size(), TOGETHER + 2, "each is traced");
        NS_TEST_EXPECT_MSG_GT_OR_EQ(traced.front(), 200, "when it leaves");
        std::ostringstream printed;
        device->PrintTiming(printed);
        for (const std::string line : {"departures: timed by the qdisc (fq, SO_TXTIME)",
                                       "sent by the qdisc: 7 frames",
                                       "passed to the qdisc: 7 frames (missed their departure "
                                       "time: 0, without a report: 0",
                                       "sent: 3 frames"})
        {
            NS_TEST_EXPECT_MSG_NE(
                printed.str().find(line), std::string::npos, line + " in " + printed.str());
        }
        device->Dispose();
        Simulator::Destroy();
    }
};

/** The tests of departure times on interfaces. */
class InterfaceDeparturesTestSuite : public TestSuite
{
  public:
    InterfaceDeparturesTestSuite() : TestSuite("viaduct-interface-departures", Type::UNIT)
    {
        AddTestCase(new DeparturesTestCase, TestCase::Duration::QUICK);
        AddTestCase(new QdiscDeparturesTestCase, TestCase::Duration::QUICK);
    }
};

InterfaceDeparturesTestSuite g_interfaceDeparturesTestSuite; //!< registers the suite

} // namespace
