/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/test/viaduct-test-support.h"

#include "ns3/double.h"
#include "ns3/fd-net-device.h"
#include "ns3/node.h"
#include "ns3/packet.h"
#include "ns3/test.h"
#include "ns3/uinteger.h"

#include "base/fd.h"

#include <atomic>
#include <sstream>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

/**
 * @file
 * @ingroup viaduct
 * Tests of ns3::ReactorSimulatorImpl, independent of the machine's speed.
 */

using namespace ns3;
using namespace ns3::viaducttest;

namespace
{

/** Events have the same order, time stamps and contexts as in DefaultSimulatorImpl. */
class OrderTestCase : public TestCase
{
  public:
    OrderTestCase() : TestCase("events run in order, at their time, in their context")
    {
    }

  private:
    void DoRun() override
    {
        ReactorScope reactor;
        std::ostringstream log;
        const auto note = [&log](const char* name) {
            log << name << "@" << Simulator::Now().GetMicroSeconds() << "/"
                << static_cast<int32_t>(Simulator::GetContext()) << " ";
        };
        Simulator::ScheduleWithContext(7, MicroSeconds(20), [&] { note("b"); });
        Simulator::ScheduleWithContext(3, MicroSeconds(10), [&] {
            note("a");
            Simulator::ScheduleNow([&] { note("now"); });
            Simulator::Schedule(MicroSeconds(10), [&] { note("c"); });
            Simulator::ScheduleWithContext(9, MicroSeconds(5), [&] { note("x"); });
        });
        Simulator::Schedule(Time(0), [&] { note("first"); });
        NS_TEST_EXPECT_MSG_EQ(Simulator::Now(), Time(0), "time before Run()");
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(
            log.str(), "first@0/-1 a@10/3 now@10/3 x@15/9 b@20/7 c@20/3 ", "order of events");
        NS_TEST_EXPECT_MSG_EQ(Simulator::Now(), MicroSeconds(20), "time after the last event");
        NS_TEST_EXPECT_MSG_EQ(Simulator::GetEventCount(), 6, "events");
        NS_TEST_EXPECT_MSG_EQ(Simulator::IsFinished(), true, "nothing is left");
    }
};

/** Events are cancelled, removed and destroyed: Cancel(), Remove(), IsExpired(), GetDelayLeft(),
 * ScheduleDestroy(). */
class EventIdTestCase : public TestCase
{
  public:
    EventIdTestCase() : TestCase("events are cancelled and removed; destroy events run")
    {
    }

  private:
    void DoRun() override
    {
        int ran = 0;
        int destroyed = 0;
        {
            ReactorScope reactor;
            EventId cancelled = Simulator::Schedule(MicroSeconds(5), [&] { ran += 100; });
            EventId removed = Simulator::Schedule(MicroSeconds(6), [&] { ran += 100; });
            EventId kept = Simulator::Schedule(MicroSeconds(7), [&] { ran++; });
            EventId later;
            Simulator::Schedule(MicroSeconds(2), [&] {
                NS_TEST_EXPECT_MSG_EQ(Simulator::GetDelayLeft(kept), MicroSeconds(5), "delay left");
                later = Simulator::ScheduleNow([&] { ran++; });
                NS_TEST_EXPECT_MSG_EQ(later.IsExpired(), false, "scheduled for the same time");
            });
            EventId destroy = Simulator::ScheduleDestroy([&] { destroyed++; });
            EventId notDestroy = Simulator::ScheduleDestroy([&] { destroyed += 100; });
            Simulator::Cancel(cancelled);
            Simulator::Remove(removed);
            Simulator::Remove(notDestroy);
            NS_TEST_EXPECT_MSG_EQ(cancelled.IsExpired(), true, "cancelled");
            NS_TEST_EXPECT_MSG_EQ(removed.IsExpired(), true, "removed");
            NS_TEST_EXPECT_MSG_EQ(notDestroy.IsExpired(), true, "destroy event removed");
            NS_TEST_EXPECT_MSG_EQ(destroy.IsExpired(), false, "destroy event kept");
            Simulator::Run();
            NS_TEST_EXPECT_MSG_EQ(kept.IsExpired(), true, "has run");
            NS_TEST_EXPECT_MSG_EQ(later.IsExpired(), true, "has run");
            NS_TEST_EXPECT_MSG_EQ(Simulator::GetDelayLeft(kept), Time(0), "no delay left");
        }
        NS_TEST_EXPECT_MSG_EQ(ran, 2, "events run");
        NS_TEST_EXPECT_MSG_EQ(destroyed, 1, "destroy events run");
    }
};

/** Stop() ends Run(), which can be called again and continues. */
class StopTestCase : public TestCase
{
  public:
    StopTestCase() : TestCase("Stop() ends Run(), which can be called again")
    {
    }

  private:
    void DoRun() override
    {
        ReactorScope reactor;
        int ran = 0;
        for (int i = 1; i <= 10; ++i)
        {
            Simulator::Schedule(MilliSeconds(i), [&] { ran++; });
        }
        Simulator::Stop(MicroSeconds(4500));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(ran, 4, "events before the stop");
        reactor.Clock().Advance(
            viaduct::Duration::Seconds(1)); // time outside Run() does not advance virtual time
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(ran, 10, "the rest");
        NS_TEST_EXPECT_MSG_EQ(Simulator::Now(), MilliSeconds(10), "time of the last event");
        NS_TEST_EXPECT_MSG_EQ(reactor->GetLateness().Max(), 0, "none was late");
    }
};

/** Run() with a port and no events waits until another thread calls Stop(). */
class ForeignStopTestCase : public TestCase
{
  public:
    ForeignStopTestCase() : TestCase("another thread wakes and stops a sleeping reactor")
    {
    }

  private:
    void DoRun() override
    {
        ReactorScope reactor;
        int fds[2];
        NS_TEST_ASSERT_MSG_EQ(
            socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, fds), 0, "sockets");
        viaduct::UniqueFd mine{fds[0]};
        viaduct::UniqueFd other{fds[1]};
        std::string received;
        std::atomic<bool> got{false};
        const auto id = reactor->AddPollable(mine.get(), Callback<bool>([&] {
                                                 char buffer[16];
                                                 const auto n =
                                                     read(mine.get(), buffer, sizeof(buffer));
                                                 if (n > 0)
                                                 {
                                                     received.assign(buffer, n);
                                                     got = true;
                                                 }
                                                 return n > 0;
                                             }));
        std::thread thread([&] {
            [[maybe_unused]] const auto n = write(other.get(), "frame", 5);
            while (!got)
            {
                std::this_thread::yield();
            }
            Simulator::Stop();
        });
        Simulator::Run();
        thread.join();
        reactor->RemovePollable(id);
        NS_TEST_EXPECT_MSG_EQ(received, "frame", "what the port received");
    }
};

/** Other threads schedule many events with a context. */
class ForeignEventsTestCase : public TestCase
{
  public:
    ForeignEventsTestCase() : TestCase("other threads schedule events with a context")
    {
    }

  private:
    void DoRun() override
    {
        constexpr uint32_t THREADS = 3;
        constexpr uint32_t EVENTS = 500;
        ReactorScope reactor;
        reactor->SetAttribute("EndWhenEmpty", BooleanValue(false));
        std::vector<uint32_t> perContext(THREADS, 0);
        uint32_t ran = 0;
        bool wrongThread = false;
        const auto main = std::this_thread::get_id();
        const auto event = [&] {
            wrongThread |= std::this_thread::get_id() != main;
            perContext.at(Simulator::GetContext())++;
            if (++ran == THREADS * EVENTS)
            {
                Simulator::Stop();
            }
        };
        std::vector<std::thread> threads;
        for (uint32_t t = 0; t < THREADS; ++t)
        {
            threads.emplace_back([&event, t] {
                for (uint32_t i = 0; i < EVENTS; ++i)
                {
                    Simulator::ScheduleWithContext(t, MicroSeconds(i % 7), event);
                }
            });
        }
        Simulator::Run();
        for (auto& thread : threads)
        {
            thread.join();
        }
        NS_TEST_EXPECT_MSG_EQ(wrongThread, false, "events run in Run()'s thread");
        for (uint32_t t = 0; t < THREADS; ++t)
        {
            NS_TEST_EXPECT_MSG_EQ(perContext[t], EVENTS, "events of context " << t);
        }
    }
};

/** The lateness of every event is measured, and a run with too many late events is VOID. */
class LatenessTestCase : public TestCase
{
  public:
    LatenessTestCase()
        : TestCase("lateness of every event is measured; too much makes the run void")
    {
    }

  private:
    void DoRun() override
    {
        for (const bool isVoid : {false, true})
        {
            ReactorScope reactor;
            reactor->SetAttribute("LatenessLimit", TimeValue(MicroSeconds(100)));
            // One of eleven events exceeds the limit: the run is valid if one tenth of the events
            // may exceed it, and VOID if only one twentieth may.
            reactor->SetAttribute("LatenessQuantile", DoubleValue(isVoid ? 0.95 : 0.90));
            uint32_t late = 0;
            Time lateness;
            Time voidSince = Seconds(-1);
            reactor->TraceConnectWithoutContext(
                "EventLate", Callback<void, Time, uint32_t>([&](Time by, uint32_t context) {
                    late += context == 5 ? 1 : 100;
                    lateness = by;
                }));
            reactor->TraceConnectWithoutContext(
                "Void", Callback<void, Time>([&](Time t) { voidSince = t; }));
            // The event takes 2 ms, during which the next event, at 1001 us, becomes due.
            Simulator::Schedule(MilliSeconds(1), [&] {
                reactor.Clock().Advance(viaduct::Duration::Milliseconds(2));
            });
            Simulator::ScheduleWithContext(5, MicroSeconds(1001), [&] {
                NS_TEST_EXPECT_MSG_EQ(
                    Simulator::Now(), MicroSeconds(1001), "a late event sees its own time");
            });
            for (int i = 0; i < 9; ++i)
            {
                Simulator::Schedule(MilliSeconds(10 + i), [] {});
            }
            Simulator::Run();
            NS_TEST_EXPECT_MSG_EQ(late, 1, "late events traced");
            NS_TEST_EXPECT_MSG_EQ(lateness, MicroSeconds(1999), "how late it was");
            NS_TEST_EXPECT_MSG_EQ(reactor->GetLateness().Max(), 1999000, "maximum");
            NS_TEST_EXPECT_MSG_EQ(reactor->GetLateness().Count(), 11, "events measured");
            NS_TEST_EXPECT_MSG_EQ(
                reactor->GetLateness().Quantile(0.9), 0, "the others are on time");
            NS_TEST_EXPECT_MSG_EQ(reactor->IsVoid(), isVoid, "verdict");
            NS_TEST_EXPECT_MSG_EQ(
                voidSince, (isVoid ? MicroSeconds(1001) : Seconds(-1)), "trace source Void");
            std::ostringstream report;
            reactor->Print(report);
            NS_TEST_EXPECT_MSG_EQ(
                (report.str().find(isVoid ? "VOID" : "VALID") != std::string::npos),
                true,
                report.str());
            reactor->ResetStatistics();
            NS_TEST_EXPECT_MSG_EQ(reactor->IsVoid(), false, "nothing measured, nothing void");
        }
    }
};

/** The breakdown accounts for every nanosecond of the loop's wall time. */
class BreakdownTestCase : public TestCase
{
  public:
    BreakdownTestCase() : TestCase("the loop's wall time is broken down")
    {
    }

  private:
    void DoRun() override
    {
        ReactorScope reactor;
        reactor->SetAttribute("SpinTime", TimeValue(MicroSeconds(40)));
        Simulator::Schedule(MicroSeconds(500), [&] {
            reactor.Clock().Advance(viaduct::Duration::Microseconds(1)); // duration of the event
            const auto phase = reactor->SetPhase(ReactorSimulatorImpl::WRITING);
            reactor.Clock().Advance(viaduct::Duration::Microseconds(3));
            reactor->SetPhase(phase);
        });
        const auto id = reactor->AddPollable(-1, Callback<bool>([] { return false; }));
        Simulator::Stop(MilliSeconds(1));
        Simulator::Run();
        reactor->RemovePollable(id);
        const auto b = reactor->GetBreakdown();
        NS_TEST_EXPECT_MSG_EQ(b.time[ReactorSimulatorImpl::EVENTS], MicroSeconds(1), "events");
        NS_TEST_EXPECT_MSG_EQ(b.time[ReactorSimulatorImpl::WRITING], MicroSeconds(3), "writing");
        NS_TEST_EXPECT_MSG_EQ(b.time[ReactorSimulatorImpl::SPINNING], MicroSeconds(80), "spinning");
        NS_TEST_EXPECT_MSG_EQ(
            b.time[ReactorSimulatorImpl::SLEEPING], MicroSeconds(916), "sleeping");
        NS_TEST_EXPECT_MSG_EQ(b.total, MilliSeconds(1), "sum");
        NS_TEST_EXPECT_MSG_EQ(b.events, 2, "events, the stop included");
    }
};

/** A port that always has work starves neither events nor other ports. */
class FairnessTestCase : public TestCase
{
  public:
    FairnessTestCase() : TestCase("a flood on one port starves neither timers nor other ports")
    {
    }

  private:
    void DoRun() override
    {
        ReactorScope reactor;
        uint64_t flood = 0;
        uint64_t other = 0;
        int ticks = 0;
        Time portTime;
        bool backwards = false;
        const auto a = reactor->AddPollable(-1, Callback<bool>([&] {
            backwards |= Simulator::Now() < portTime;
            portTime = Simulator::Now();
            reactor.Clock().Advance(viaduct::Duration::Microseconds(10)); // a burst takes 10 us
            flood++;
            return true;
        }));
        const auto b = reactor->AddPollable(-1, Callback<bool>([&] {
            other++;
            return true;
        }));
        for (int i = 1; i <= 20; ++i)
        {
            Simulator::Schedule(MicroSeconds(100 * i), [&] { ticks++; });
        }
        Simulator::Stop(MicroSeconds(2001));
        Simulator::Run();
        reactor->RemovePollable(a);
        reactor->RemovePollable(b);
        NS_TEST_EXPECT_MSG_EQ(ticks, 20, "timers");
        NS_TEST_EXPECT_MSG_EQ(flood, other, "both ports are served in every turn");
        NS_TEST_EXPECT_MSG_GT(flood, 190, "the rest of the time is the ports'");
        NS_TEST_EXPECT_MSG_LT(reactor->GetLateness().Max(), 10001, "at most one burst late");
        NS_TEST_EXPECT_MSG_EQ(backwards, false, "ports see time go forward");
    }
};

/** An endless sequence of events starves no port. */
class EventFloodTestCase : public TestCase
{
  public:
    EventFloodTestCase() : TestCase("events without end do not starve ports, nor lose their order")
    {
    }

  private:
    void DoRun() override
    {
        ReactorScope reactor;
        reactor->SetAttribute("EventBurst", UintegerValue(8));
        int bursts = 0;
        Time last;
        bool ordered = true;
        std::function<void()> event = [&] {
            ordered = ordered && Simulator::Now() >= last;
            last = Simulator::Now();
            reactor.Clock().Advance(
                viaduct::Duration::Microseconds(5)); // longer than the interval between events
            Simulator::Schedule(MicroSeconds(1), event);
        };
        Simulator::Schedule(Time(0), event);
        const auto id = reactor->AddPollable(-1, Callback<bool>([&] {
            ordered = ordered && Simulator::Now() >= last;
            last = Simulator::Now();
            if (++bursts == 100)
            {
                Simulator::Stop();
            }
            return true;
        }));
        Simulator::Run();
        reactor->RemovePollable(id);
        NS_TEST_EXPECT_MSG_EQ(bursts, 100, "bursts");
        NS_TEST_EXPECT_MSG_EQ(ordered, true, "no event and no port sees time go back");
        NS_TEST_EXPECT_MSG_LT(Simulator::GetEventCount(), 8 * 101 + 1, "events per burst");
    }
};

/** A port adds and removes ports while it is served, and runs a function in a node's context. */
class PollableTestCase : public TestCase
{
  public:
    PollableTestCase()
        : TestCase("ports are added and removed from within, and run in a node's context")
    {
    }

  private:
    void DoRun() override
    {
        ReactorScope reactor;
        uint32_t first = 0;
        uint32_t context = 0;
        uint32_t inside = 0;
        int calls = 0;
        first = reactor->AddPollable(-1, Callback<bool>([&] {
            calls++;
            reactor->RemovePollable(first);
            reactor->AddPollable(-1, Callback<bool>([&] {
                context = Simulator::GetContext();
                reactor->RunInContext(17, [&] { inside = Simulator::GetContext(); });
                Simulator::Stop();
                return false;
            }));
            return true;
        }));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(calls, 1, "a removed port is not served again");
        NS_TEST_EXPECT_MSG_EQ(context, static_cast<uint32_t>(Simulator::NO_CONTEXT), "no context");
        NS_TEST_EXPECT_MSG_EQ(inside, 17, "context of the node");
    }
};

/** A descriptor that is always ready with nothing to read does not keep the loop busy. */
class MuteTestCase : public TestCase
{
  public:
    MuteTestCase() : TestCase("a descriptor in error does not keep the loop busy")
    {
    }

  private:
    void DoRun() override
    {
        ReactorScope reactor;
        int fds[2];
        NS_TEST_ASSERT_MSG_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0, "sockets");
        viaduct::UniqueFd hungUp{fds[0]};
        close(fds[1]);
        int calls = 0;
        const auto id = reactor->AddPollable(hungUp.get(), Callback<bool>([&] {
                                                 calls++;
                                                 return false;
                                             }));
        Simulator::Stop(Seconds(1));
        Simulator::Run();
        reactor->RemovePollable(id);
        NS_TEST_EXPECT_MSG_LT(calls, 300, "calls in a second");
        NS_TEST_EXPECT_MSG_GT(calls, 70, "it is tried again from time to time");
    }
};

/** FdNetDevice of ns-3, which reads in a separate thread, works under the reactor. */
class FdNetDeviceTestCase : public TestCase
{
  public:
    FdNetDeviceTestCase() : TestCase("FdNetDevice works under the reactor")
    {
    }

  private:
    void DoRun() override
    {
        ReactorScope reactor;
        reactor->SetAttribute("EndWhenEmpty", BooleanValue(false));
        int fds[2];
        NS_TEST_ASSERT_MSG_EQ(socketpair(AF_UNIX, SOCK_DGRAM, 0, fds), 0, "sockets");
        viaduct::UniqueFd outside{fds[1]};
        Ptr<Node> node = CreateObject<Node>();
        Ptr<FdNetDevice> device = CreateObject<FdNetDevice>();
        device->SetAddress(Mac48Address("02:00:00:00:00:01"));
        device->SetFileDescriptor(fds[0]);
        node->AddDevice(device);
        uint32_t context = 0;
        uint32_t size = 0;
        device->SetReceiveCallback(
            Callback<bool, Ptr<NetDevice>, Ptr<const Packet>, uint16_t, const Address&>(
                [&](Ptr<NetDevice>, Ptr<const Packet> packet, uint16_t, const Address& from) {
                    context = Simulator::GetContext();
                    size = packet->GetSize();
                    device->Send(packet->Copy(), from, 0x88b5);
                    Simulator::Stop();
                    return true;
                }));
        const Frame frame = FromHex("020000000001 020000000002 88b5 01020304050607");
        NS_TEST_ASSERT_MSG_EQ(write(outside.get(), frame.data(), frame.size()),
                              static_cast<ssize_t>(frame.size()),
                              "frame written");
        Simulator::Run();
        char reply[64];
        const auto n = read(outside.get(), reply, sizeof(reply));
        NS_TEST_EXPECT_MSG_EQ(context, node->GetId(), "context");
        NS_TEST_EXPECT_MSG_EQ(size, 7, "payload");
        NS_TEST_EXPECT_MSG_EQ(n, static_cast<ssize_t>(frame.size()), "reply");
    }
};

/** The tests of ns3::ReactorSimulatorImpl. */
class ReactorTestSuite : public TestSuite
{
  public:
    ReactorTestSuite() : TestSuite("viaduct-reactor", Type::UNIT)
    {
        AddTestCase(new OrderTestCase, TestCase::Duration::QUICK);
        AddTestCase(new EventIdTestCase, TestCase::Duration::QUICK);
        AddTestCase(new StopTestCase, TestCase::Duration::QUICK);
        AddTestCase(new ForeignStopTestCase, TestCase::Duration::QUICK);
        AddTestCase(new ForeignEventsTestCase, TestCase::Duration::QUICK);
        AddTestCase(new LatenessTestCase, TestCase::Duration::QUICK);
        AddTestCase(new BreakdownTestCase, TestCase::Duration::QUICK);
        AddTestCase(new FairnessTestCase, TestCase::Duration::QUICK);
        AddTestCase(new EventFloodTestCase, TestCase::Duration::QUICK);
        AddTestCase(new PollableTestCase, TestCase::Duration::QUICK);
        AddTestCase(new MuteTestCase, TestCase::Duration::QUICK);
        AddTestCase(new FdNetDeviceTestCase, TestCase::Duration::QUICK);
    }
};

ReactorTestSuite g_reactorTestSuite; //!< registers the suite

} // namespace
