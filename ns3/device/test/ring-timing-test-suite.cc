/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/device/test/interface-test-support.h"

#include "ns3/test.h"
#include "ns3/uinteger.h"

#include "base/error.h"
#include "base/realtime.h"

#include <sched.h>
#include <sstream>

/**
 * @file
 * @ingroup viaduct
 * Tests of the times at which ns3::RingNetDevice receives and sends frames.
 */

using namespace ns3;
using namespace ns3::viaducttest;

namespace
{

const char* const FRAME = "020000000001 020000000002 88b5 00";

/** Frames leave at the times of their DepartureTags, in the order of these times. */
class DepartureTestCase : public TestCase
{
  public:
    DepartureTestCase() : TestCase("frames leave at the time of their DepartureTag, in its order")
    {
    }

  private:
    void DoRun() override
    {
        ReactorScope reactor;
        TestDevice d(CreateObject<Node>(), "02:00:00:00:00:01");
        d.device->SetAttribute("DepartureQueueSize", UintegerValue(4));
        int sent = 0;
        const auto send = [&](uint8_t number, Time when) {
            Ptr<Packet> packet = Create<Packet>(&number, 1);
            if (!when.IsZero())
            {
                packet->AddPacketTag(DepartureTag(when));
            }
            sent += d.device->Send(packet, d.device->GetBroadcast(), 0x88b5);
        };
        std::vector<std::string> left;
        const auto note = [&] {
            std::string numbers;
            for (const Frame& frame : *d.out)
            {
                numbers += std::to_string(std::to_integer<int>(frame.back()));
            }
            left.push_back(numbers);
        };
        Simulator::Schedule(MilliSeconds(1), [&] {
            send(1, MilliSeconds(9));
            send(2, MilliSeconds(5));
            send(3, MilliSeconds(5));
            send(4, NanoSeconds(1)); // time in the past
            send(5, Time());
            send(6, MilliSeconds(7));
            send(7, MilliSeconds(8)); // exceeds DepartureQueueSize
        });
        for (int ms : {4, 6, 8, 10})
        {
            Simulator::Schedule(MilliSeconds(ms), note);
        }
        Simulator::Schedule(MilliSeconds(11), [&] {
            send(8, MilliSeconds(100)); // never sent: the simulation ends earlier
        });
        Simulator::Stop(MilliSeconds(12));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(left.at(0), "45", "at once");
        NS_TEST_EXPECT_MSG_EQ(left.at(1), "4523", "after 5 ms");
        NS_TEST_EXPECT_MSG_EQ(left.at(2), "45236", "after 7 ms");
        NS_TEST_EXPECT_MSG_EQ(left.at(3), "452361", "after 9 ms");
        NS_TEST_EXPECT_MSG_EQ(sent, 7, "accepted");
        NS_TEST_EXPECT_MSG_EQ(
            d.device->GetDrops(RingNetDevice::TX_TOO_MANY_DEPARTURES), 1, "refused");
        // Each frame left in the reactor's turn in which its time was reached.
        NS_TEST_EXPECT_MSG_EQ(d.device->GetTiming().sent.Count(), 6, "measured");
        NS_TEST_EXPECT_MSG_LT(d.device->GetTiming().sent.Max(), 60'000, "ns late");
    }
};

/** The histograms count the lateness of received and sent frames. */
class LatenessTestCase : public TestCase
{
  public:
    LatenessTestCase() : TestCase("lateness is from the kernel's stamp, and from the event, on")
    {
    }

  private:
    void DoRun() override
    {
        ReactorScope reactor;
        reactor->SetAttribute("LatenessLimit", TimeValue(MilliSeconds(2)));
        TestDevice d(CreateObject<Node>(), "02:00:00:00:00:01");
        d.port->m_describe = [](viaduct::io::ReceivedFrame& frame) {
            frame.received = viaduct::RealtimeNow() - viaduct::Duration::Milliseconds(3);
        };
        d.device->SetReceiveCallback(
            Callback<bool, Ptr<NetDevice>, Ptr<const Packet>, uint16_t, const Address&>(
                [&](Ptr<NetDevice>, Ptr<const Packet>, uint16_t, const Address&) {
                    reactor.Clock().Advance(viaduct::Duration::Milliseconds(4));
                    return true;
                }));
        Time traced;
        d.device->TraceConnectWithoutContext(
            "ReceivedLate", Callback<void, Time>([&](Time lateness) { traced = lateness; }));
        Simulator::Schedule(MilliSeconds(1), [&] { d.in->push_back(FromHex(FRAME)); });
        Simulator::Schedule(MilliSeconds(20), [&] {
            d.device->Send(Create<Packet>(10), d.device->GetBroadcast(), 0x88b5);
            reactor.Clock().Advance(viaduct::Duration::Milliseconds(5)); // the event takes 5 ms
        });
        Simulator::Stop(MilliSeconds(40));
        Simulator::Run();
        const PortTiming& timing = d.device->GetTiming();
        NS_TEST_EXPECT_MSG_EQ(timing.received.Count(), 1, "received");
        NS_TEST_EXPECT_MSG_GT(timing.received.Max(), 6'900'000, "3 ms waiting, 4 ms processing");
        NS_TEST_EXPECT_MSG_GT(traced, MicroSeconds(6900), "traced");
        TimeValue p99;
        d.device->GetAttribute("ReceivedLateness", p99);
        NS_TEST_EXPECT_MSG_GT(p99.Get(), MicroSeconds(6900), "the attribute");
        NS_TEST_EXPECT_MSG_EQ(timing.sent.Count(), 1, "sent");
        NS_TEST_EXPECT_MSG_GT(timing.sent.Max(), 4'900'000, "its event was in the way");
        NS_TEST_EXPECT_MSG_LT(timing.sent.Max(), 6'000'000, "and nothing else");
        NS_TEST_EXPECT_MSG_EQ(reactor->IsPortVoid(), true, "the verdict");
        std::ostringstream printed;
        d.device->PrintTiming(printed);
        reactor->Print(printed);
        NS_TEST_EXPECT_MSG_NE(
            printed.str().find("received: 1 frames, p50 "), std::string::npos, printed.str());
        NS_TEST_EXPECT_MSG_NE(printed.str().find("us late VOID\n"), std::string::npos, "verdict");
    }
};

/** A frame that the port refuses is not sent, so that no lateness is recorded for it. */
class RefusedTestCase : public TestCase
{
  public:
    RefusedTestCase() : TestCase("frames that the port refuses have no lateness")
    {
    }

  private:
    void DoRun() override
    {
        ReactorScope reactor;
        TestDevice d(CreateObject<Node>(), "02:00:00:00:00:01");
        d.port->m_longest = 100;
        Simulator::Schedule(MilliSeconds(1), [&] {
            for (const uint32_t size : {200, 10, 10, 200, 10, 200})
            {
                d.device->Send(Create<Packet>(size), d.device->GetBroadcast(), 0x88b5);
            }
        });
        Simulator::Stop(MilliSeconds(20));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(d.out->size(), 3, "sent");
        NS_TEST_EXPECT_MSG_EQ(d.device->GetTiming().sent.Count(), 3, "measured");
    }
};

/** The device reports the frames that it has not received at the end of the simulation, and the
 * frames that it has not sent because the port had no space. */
class WaitingTestCase : public TestCase
{
  public:
    WaitingTestCase() : TestCase("frames that wait at the end are told")
    {
    }

  private:
    void DoRun() override
    {
        constexpr uint64_t FRAMES = 40;
        ReactorScope reactor;
        TestDevice d(CreateObject<Node>(), "02:00:00:00:00:01");
        d.port->m_room = 2;
        d.device->SetReceiveCallback(
            Callback<bool, Ptr<NetDevice>, Ptr<const Packet>, uint16_t, const Address&>(
                [&](Ptr<NetDevice>, Ptr<const Packet>, uint16_t, const Address&) {
                    reactor.Clock().Advance(viaduct::Duration::Milliseconds(4));
                    return true;
                }));
        Simulator::Schedule(MilliSeconds(1), [&] {
            d.in->insert(d.in->end(), FRAMES, FromHex(FRAME));
            for (int i = 0; i < 5; ++i)
            {
                d.device->Send(Create<Packet>(10), d.device->GetBroadcast(), 0x88b5);
            }
        });
        Simulator::Stop(MilliSeconds(60));
        Simulator::Run();
        const uint64_t received = d.device->GetTiming().received.Count();
        NS_TEST_EXPECT_MSG_LT(received, FRAMES, "the simulator is too slow");
        std::ostringstream printed, expected;
        d.device->PrintTiming(printed);
        expected << "  waiting to be received: " << FRAMES - received << " frames\n";
        NS_TEST_EXPECT_MSG_NE(printed.str().find(expected.str()), std::string::npos, printed.str());
        NS_TEST_EXPECT_MSG_NE(printed.str().find("  sent: 2 frames"), std::string::npos, "sent");
        NS_TEST_EXPECT_MSG_NE(
            printed.str().find("  waiting to be sent: 3 frames\n"), std::string::npos, "not sent");
    }
};

/** Frames leave a real interface in the order of their departure times, and the lateness of
 * received frames is measured. */
class InterfaceTimingTestCase : public PortTestCase
{
  public:
    explicit InterfaceTimingTestCase(const std::string& kind)
        : PortTestCase(kind, "frames leave in the order of their times; those received are timed")
    {
    }

  private:
    void RunOnInterfaces() override
    {
        ReactorScope reactor(TestTime::REAL);
        TestInterface link;
        auto outside = link.Outside();
        Ptr<RingNetDevice> device = link.MakeDevice(m_kind);
        const auto send = [&](uint8_t number, Time when) {
            Ptr<Packet> packet = Create<Packet>(&number, 1);
            packet->AddPacketTag(DepartureTag(when));
            device->Send(packet, device->GetBroadcast(), 0x88b5);
        };
        const auto sent = [&] { return device->GetPort()->Counters().tx_frames; };
        std::vector<uint64_t> before;
        Simulator::Schedule(MilliSeconds(1), [&] {
            send(1, MilliSeconds(9));
            send(2, MilliSeconds(5));
            send(3, MilliSeconds(7));
            send(4, NanoSeconds(1)); // time in the past
            send(5, Hours(1));       // time after the end of the simulation
        });
        for (int ms : {5, 7, 9})
        {
            Simulator::Schedule(MilliSeconds(ms) - NanoSeconds(1),
                                [&] { before.push_back(sent()); });
        }
        constexpr int STALL_MS = 20;
        int stalls = 0;
        // Sends a frame and then keeps the loop busy for 20 ms. Repeats both until the kernel has
        // stamped a frame before the loop was busy.
        std::function<void()> stall = [&] {
            viaduct::io::SendFrame(outside, FromHex(FRAME));
            const auto end =
                viaduct::MonotonicClock::Now() + viaduct::Duration::Milliseconds(STALL_MS);
            while (viaduct::MonotonicClock::Now() < end)
            {
            }
            if (device->GetTiming().received.Max() < STALL_MS * 500'000 && ++stalls < 500)
            {
                // The delay lets the reactor read the port before the next call of stall().
                Simulator::Schedule(MilliSeconds(3 * STALL_MS), stall);
            }
        };
        Simulator::Schedule(MilliSeconds(10), stall);
        std::string order;
        Simulator::Schedule(MilliSeconds(10), [&] {
            StopWhen([&] {
                for (const Frame& frame : TakeFrames(outside))
                {
                    order += std::to_string(std::to_integer<int>(frame[14]));
                }
                return order.size() >= 4 &&
                       device->GetTiming().received.Max() >= STALL_MS * 500'000;
            });
        });
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(order, "4231", "by their times");
        NS_TEST_ASSERT_MSG_EQ(before.size(), 3, "looked at");
        for (uint64_t i = 0; i < before.size(); ++i)
        {
            // Fewer frames may have left on a slow machine, because frames leave at the end of a
            // reactor's turn.
            NS_TEST_EXPECT_MSG_LT_OR_EQ(before[i], i + 1, "none early");
        }
        NS_TEST_EXPECT_MSG_EQ(device->GetTiming().sent.Count(), 4, "sent");
        NS_TEST_EXPECT_MSG_GT(device->GetTiming().received.Max(), STALL_MS * 500'000, "late");
        std::ostringstream printed;
        device->PrintTiming(printed);
        const std::string port = m_kind.rfind("AfXdp", 0) == 0 ? "  port: AF_XDP: "
                                 : m_kind == "Dpdk"            ? "  port: DPDK "
                                                               : "  port: AF_PACKET ring";
        NS_TEST_EXPECT_MSG_NE(printed.str().find(port), std::string::npos, printed.str());
        NS_TEST_EXPECT_MSG_NE(printed.str().find("  departures: timed by the simulator's clock: "
                                                 "frames do not pass through a qdisc\n"),
                              std::string::npos,
                              printed.str());
        NS_TEST_EXPECT_MSG_NE(printed.str().find("  waiting for their departure time: 1 frames\n"),
                              std::string::npos,
                              printed.str());
        Simulator::Destroy();
    }
};

/** The reactor sets the processors and the scheduling class of its thread, and refuses wrong
 * attributes. */
class ThreadPolicyTestCase : public TestCase
{
  public:
    ThreadPolicyTestCase() : TestCase("processors and class of the thread; what is refused")
    {
    }

  private:
    /** @return the message of the error that Run() throws */
    std::string Refusal(ReactorScope& reactor)
    {
        try
        {
            Simulator::Stop(MilliSeconds(1));
            reactor->Run();
        }
        catch (const viaduct::Error& error)
        {
            return error.what();
        }
        return "";
    }

    void DoRun() override
    {
        ReactorScope reactor;
        reactor->SetAttribute("CpuAffinity", StringValue("one"));
        NS_TEST_EXPECT_MSG_NE(Refusal(reactor).find("0,2-3"), std::string::npos, "no processor");
        reactor->SetAttribute("CpuAffinity", StringValue("1023"));
        NS_TEST_EXPECT_MSG_NE(Refusal(reactor).find("1023"), std::string::npos, "none such");
        reactor->SetAttribute("CpuAffinity", StringValue(""));
        reactor->SetAttribute("FifoPriority", UintegerValue(1));
        reactor->SetAttribute("AlwaysPoll", BooleanValue(true));
        NS_TEST_EXPECT_MSG_NE(Refusal(reactor).find("AlwaysPoll"), std::string::npos, "both");
        reactor->SetAttribute("AlwaysPoll", BooleanValue(false));
        cpu_set_t allowed;
        sched_getaffinity(0, sizeof(allowed), &allowed);
        int last = CPU_SETSIZE - 1;
        while (!CPU_ISSET(last, &allowed))
        {
            --last;
        }
        reactor->SetAttribute("CpuAffinity", StringValue(std::to_string(last)));
        int processors = 0;
        int policy = -1;
        Simulator::ScheduleNow([&] {
            cpu_set_t now;
            sched_getaffinity(0, sizeof(now), &now);
            processors = CPU_COUNT(&now);
            policy = sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
            // The events keep the reactor busy for 100 ms of the test's clock.
            for (int i = 0; i < 100; ++i)
            {
                Simulator::Schedule(MicroSeconds(i), [&] {
                    reactor.Clock().Advance(viaduct::Duration::Milliseconds(1));
                });
            }
        });
        reactor->SetAttribute("EventBurst", UintegerValue(1));
        const std::string refused = Refusal(reactor);
        if (!refused.empty())
        {
            NS_TEST_EXPECT_MSG_NE(refused.find("CAP_SYS_NICE"), std::string::npos, refused);
            return;
        }
        NS_TEST_EXPECT_MSG_EQ(processors, 1, "processors");
        NS_TEST_EXPECT_MSG_EQ(policy, SCHED_FIFO, "class");
        NS_TEST_EXPECT_MSG_GT(reactor->GetBreakdown().rests, 3, "rests");
        NS_TEST_EXPECT_MSG_EQ(sched_getscheduler(0), SCHED_OTHER, "as before");
    }
};

/** The tests of departure times and lateness. */
class RingTimingTestSuite : public TestSuite
{
  public:
    RingTimingTestSuite() : TestSuite("viaduct-ring-timing", Type::UNIT)
    {
        AddTestCase(new DepartureTestCase, TestCase::Duration::QUICK);
        AddTestCase(new RefusedTestCase, TestCase::Duration::QUICK);
        AddTestCase(new WaitingTestCase, TestCase::Duration::QUICK);
        AddTestCase(new LatenessTestCase, TestCase::Duration::QUICK);
        for (const std::string kind : PORT_KINDS)
        {
            AddTestCase(new InterfaceTimingTestCase(kind), TestCase::Duration::QUICK);
        }
        AddTestCase(new ThreadPolicyTestCase, TestCase::Duration::QUICK);
    }
};

RingTimingTestSuite g_ringTimingTestSuite; //!< registers the suite

} // namespace
