#include "guest/time/calendar.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "guest/test/calendar_test_support.h"

namespace viaduct::guest {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A fixture for each kind of schedule: guests with and without the schedule and its queues in
// memory must behave in the same way.
class CalendarTest : public testing::TestWithParam<FakeSchedule> {
 protected:
  CalendarTest() {
    options_.uptime = Duration::Milliseconds(10);
    options_.timeout = Duration::Seconds(30);
  }
  // Adds a guest that runs the script and has `nics` network devices.
  Guest& Make(FakeGuest::Script script, size_t nics = 0) {
    fakes_.push_back(std::make_unique<FakeGuest>(GetParam(), std::move(script)));
    if (!calendar_) calendar_ = std::make_unique<Calendar>(queue_, options_);
    Guest& guest = calendar_->AddGuest("guest of the test", fakes_.back()->Launcher());
    for (size_t i = 0; i < nics; ++i) guest.AddNic(kMac);
    return guest;
  }
  void RunUntilMs(int64_t ms) { queue_.RunUntil(AtMs(ms)); }

  EventQueue queue_;
  CalendarOptions options_;
  std::vector<std::unique_ptr<FakeGuest>> fakes_;
  std::unique_ptr<Calendar> calendar_;  // destroyed first, which ends the guests' scripts
};

INSTANTIATE_TEST_SUITE_P(Schedules, CalendarTest,
                         testing::Values(FakeSchedule::kMessages, FakeSchedule::kShared,
                                         FakeSchedule::kSharedQueues, FakeSchedule::kDoorbells),
                         NameOf);

TEST_P(CalendarTest, BootsUntilTheSimulationStarts) {
  Make([](FakeGuest& guest) {
    guest.Start();
    guest.AwaitEnd();
  });
  calendar_->Boot();
  EXPECT_EQ(queue_.Now(), Instant());
  EXPECT_EQ(calendar_->Present(), Instant());
  EXPECT_EQ(calendar_->UptimeAt(Instant()), Duration::Milliseconds(10));
}

TEST_P(CalendarTest, FrameIsSentAtTheGuestsInstant) {
  std::vector<int64_t> sent;
  Guest& guest = Make(
      [](FakeGuest& g) {
        g.Start();
        g.ConnectDevices(1);
        g.SleepUntil(13 * kMs);
        g.device(0).Send(Frame(60, 1));
        g.SleepUntil(13 * kMs + 7);
        g.device(0).Send(Frame(60, 2));
        g.AwaitEnd();
      },
      1);
  guest.nics()[0]->SetTransmit([&](std::span<const std::byte> frame, Nic::Token token) {
    EXPECT_EQ(frame.size(), 60U);
    sent.push_back(queue_.Now().nanoseconds());
    guest.nics()[0]->TransmitDone(token);
  });
  calendar_->Boot();
  RunUntilMs(10);
  EXPECT_THAT(sent, ElementsAre(3'000'000, 3'000'007));
}

TEST_P(CalendarTest, FrameIsDeliveredAtTheSimulatorsInstant) {
  std::vector<std::pair<uint64_t, size_t>> received;
  Guest& guest = Make(
      [&](FakeGuest& g) {
        g.Start();
        g.ConnectDevices(1);
        for (;;) {
          g.Wait();
          for (const auto& frame : g.device(0).TakeFrames()) {
            received.emplace_back(g.Now(), frame.size());
          }
        }
      },
      1);
  calendar_->Boot();
  queue_.Schedule(AtMs(5), [&] { EXPECT_TRUE(guest.nics()[0]->Deliver(Frame(60, 3))); });
  queue_.Schedule(AtMs(7), [&] { EXPECT_TRUE(guest.nics()[0]->Deliver(Frame(9014, 4))); });
  RunUntilMs(8);
  calendar_.reset();
  fakes_.clear();
  EXPECT_THAT(received, ElementsAre(std::pair(15 * kMs, 60U), std::pair(17 * kMs, 9014U)));
}

TEST_P(CalendarTest, GuestNeverPassesAnEvent) {
  std::vector<uint64_t> clock;
  Make([&](FakeGuest& guest) {
    guest.Start();
    guest.SleepUntil(10 * kMs);
    for (int i = 1; i <= 10; ++i) guest.SleepUntil(10 * kMs + i * kMs);
    clock.push_back(guest.Now());
    guest.AwaitEnd();
  });
  calendar_->Boot();
  std::vector<int64_t> behind;
  for (int i = 1; i <= 10; ++i) {
    queue_.Schedule(AtMs(i),
                    [&] { behind.push_back((calendar_->Present() - queue_.Now()).nanoseconds()); });
  }
  RunUntilMs(30);
  calendar_.reset();
  fakes_.clear();
  EXPECT_THAT(clock, ElementsAre(20 * kMs));
  EXPECT_THAT(behind, testing::Each(0));
}

TEST_P(CalendarTest, PingBetweenTwoGuestsIsExact) {
  std::vector<uint64_t> round_trips;
  const auto echo = [](FakeGuest& g) {
    g.Start();
    g.ConnectDevices(1);
    for (;;) {
      g.Wait();
      for (const auto& frame : g.device(0).TakeFrames()) g.device(0).Send(frame);
    }
  };
  const auto ask = [&](FakeGuest& g) {
    g.Start();
    g.ConnectDevices(1);
    g.SleepUntil(15 * kMs);
    for (int i = 0; i < 3; ++i) {
      const uint64_t start = g.Now();
      g.device(0).Send(Frame(98, i));
      while (g.device(0).TakeFrames().empty()) g.Wait();
      round_trips.push_back(g.Now() - start);
    }
    g.AwaitEnd();
  };
  Nic& a = *Make(ask, 1).nics()[0];
  Nic& b = *Make(echo, 1).nics()[0];
  // Connects two devices by a link of 100 Mbit/s with a delay of 10 ms.
  const auto connect = [&](Nic& from, Nic& to) {
    from.SetTransmit([&](std::span<const std::byte> frame, Nic::Token token) {
      const Instant sent =
          queue_.Now() + Duration::Nanoseconds(static_cast<int64_t>(frame.size()) * 80);
      queue_.Schedule(sent, [&from, token] { from.TransmitDone(token); });
      queue_.Schedule(sent + Duration::Milliseconds(10),
                      [&to, copy = std::vector(frame.begin(), frame.end())] { to.Deliver(copy); });
    });
  };
  connect(a, b);
  connect(b, a);
  calendar_->Boot();
  RunUntilMs(100);
  calendar_.reset();
  fakes_.clear();
  EXPECT_THAT(round_trips, ElementsAre(20'015'680, 20'015'680, 20'015'680));
}

TEST_P(CalendarTest, EventsScheduledWhileBootingHappen) {
  std::vector<int64_t> sent;
  Guest& guest = Make(
      [](FakeGuest& g) {
        g.Start();
        g.ConnectDevices(1);
        g.SleepUntil(4 * kMs);
        g.device(0).Send(Frame(60, 1));
        g.AwaitEnd();
      },
      1);
  guest.nics()[0]->SetTransmit([&](auto, Nic::Token) {
    sent.push_back(calendar_->Present().nanoseconds());
    calendar_->Schedule(AtMs(2), [&] { sent.push_back(queue_.Now().nanoseconds()); });
  });
  calendar_->Boot();
  EXPECT_THAT(sent, ElementsAre(-6'000'000));
  RunUntilMs(3);
  EXPECT_THAT(sent, ElementsAre(-6'000'000, 2'000'000));
}

TEST_P(CalendarTest, LostGuestIsOneError) {
  Make([](FakeGuest& guest) {
    guest.Start();
    guest.SleepUntil(12 * kMs);
    guest.Close();
  });
  calendar_->Boot();
  const std::string error = ErrorOf([&] { RunUntilMs(10); });
  EXPECT_EQ(error, "kernel guest of the test is not running, at 0.002000000 s");
  EXPECT_EQ(ErrorOf([&] { RunUntilMs(20); }), "no error") << "nothing is left to happen";
}

TEST_P(CalendarTest, ClockSetTooFarIsAnError) {
  Make([](FakeGuest& guest) {
    guest.Start();
    guest.SleepUntil(11 * kMs);
    guest.SetClock(900'000 * kMs);
    guest.Call(TimeTravelOp::kUpdate, 900'000 * kMs);
    guest.AwaitEnd();
  });
  calendar_->Boot();
  EXPECT_THAT(ErrorOf([&] { RunUntilMs(10); }), HasSubstr("clock"));
}

struct Hostile {
  const char* name;
  FakeGuest::Script script;
  const char* error;
  // The timeout during the boot. The timeout is longer than any delay on a busy machine, except in
  // tests that expect the timeout.
  Duration boot_timeout = Duration::Seconds(30);
  FakeSchedule schedule = FakeSchedule::kShared;
  Duration timeout = Duration::Seconds(30);  // the timeout after the boot
};
constexpr Duration kNone = Duration::Milliseconds(1);

class HostileGuest : public testing::TestWithParam<Hostile> {};

TEST_P(HostileGuest, EndsTheRunWithOneError) {
  EventQueue queue;
  CalendarOptions options;
  options.timeout = GetParam().boot_timeout;
  FakeGuest fake(GetParam().schedule, GetParam().script);
  Calendar calendar(queue, options);
  Nic& nic = calendar.AddGuest("guest of the test", fake.Launcher()).AddNic(kMac);
  nic.SetTransmit([&](auto, Nic::Token token) { nic.TransmitDone(token); });
  EXPECT_THAT(ErrorOf([&] {
                calendar.Boot();
                calendar.SetTimeout(GetParam().timeout);
                queue.Schedule(AtMs(1), [&] { nic.Deliver(Frame(60, 1)); });
                queue.RunUntil(AtMs(10));
              }),
              HasSubstr(GetParam().error));
}

INSTANTIATE_TEST_SUITE_P(
    Guests, HostileGuest,
    testing::Values(
        Hostile{"NeverConnects", [](FakeGuest&) {}, "did not ask for the time",
                Duration::Milliseconds(50)},
        Hostile{"UnknownOperation",
                [](FakeGuest& g) {
                  g.Start();
                  Raw(g, {77, 1, 0, 0});
                },
                "an unknown time-travel operation"},
        Hostile{"CutMessage",
                [](FakeGuest& g) {
                  g.Start();
                  Raw(g, {1, 1});
                },
                "is not running"},
        Hostile{"StartsTwice",
                [](FakeGuest& g) {
                  g.Start();
                  g.Send(TimeTravelOp::kStart, 1);
                },
                "started twice"},
        Hostile{"WaitsTwice",
                [](FakeGuest& g) {
                  Ready(g);
                  g.Send(TimeTravelOp::kWait, 0);
                  g.Send(TimeTravelOp::kWait, 0);
                  g.AwaitEnd();
                },
                "reported a wait, although the guest was not running"},
        Hostile{"SaysWhatCalendarsSay",
                [](FakeGuest& g) {
                  g.Start();
                  g.Send(TimeTravelOp::kFreeUntil, 5);
                },
                "sent FREE_UNTIL"},
        Hostile{"Spins",
                [](FakeGuest& g) {
                  Ready(g);
                  g.SleepUntil(2'000'500'000);  // an instant before the frame's arrival
                  g.Call(TimeTravelOp::kGetTod, 0);
                  g.Call(TimeTravelOp::kGet, 0);
                  for (;;) g.Call(static_cast<TimeTravelOp>(0), 0);
                },
                "polls without sleeping", Duration::Seconds(30), FakeSchedule::kShared, kNone},
        Hostile{"IgnoresInterrupts",
                [](FakeGuest& g) {
                  Ready(g);
                  g.Send(TimeTravelOp::kWait, 0);
                  for (;;) g.Call(static_cast<TimeTravelOp>(0), 0);
                },
                "does not answer an interrupt", Duration::Seconds(30), FakeSchedule::kShared,
                kNone},
        Hostile{"QueueWithoutMemory",
                [](FakeGuest& g) {
                  Ready(g);
                  g.device(0).Ask(VhostRequest::kSetVringAddr,
                                  VringAddresses{0, 0, 1U << 30, 1U << 30, 1U << 30, 0});
                },
                "outside its memory"},
        Hostile{"MemoryBeyondTheFile",
                [](FakeGuest& g) {
                  Ready(g);
                  g.device(0).SetMemory(FakeDevice::kMemorySize + 1);
                },
                "of a file of"},
        Hostile{"MemoryThatIsNotAligned",
                [](FakeGuest& g) {
                  Ready(g);
                  g.device(0).SetMemory(4096, 1);
                },
                "not aligned"},
        Hostile{"CutsTheMemoryOfItsFrames",
                [](FakeGuest& g) {
                  Ready(g);
                  g.device(0).PutFrame(Frame(60, 1));
                  g.device(0).CutMemory();
                  g.device(0).Kick();
                },
                "has lost memory"},
        Hostile{"CutsTheMemoryOfFramesForIt",
                [](FakeGuest& g) {
                  Ready(g);
                  g.device(0).CutMemory();
                  g.AwaitEnd();
                },
                "has lost memory"},
        Hostile{"FrameOfHalfAMegabyte",
                [](FakeGuest& g) {
                  Ready(g);
                  g.device(0).Offer(NetBackend::kTxQueue, 3, 512 << 10, false);
                  g.device(0).Kick();
                },
                "sent a frame of 524276 bytes"},
        Hostile{"OffersItsBuffersTwice",
                [](FakeGuest& g) {
                  Ready(g);
                  for (int i = 0; i < 16; ++i) g.device(0).PutFrame(Frame(60, i));
                  g.device(0).Kick();
                  g.device(0).PutFrame(Frame(60, 1));
                  g.device(0).Kick();
                },
                "offers more buffers than the 16"},
        Hostile{"QueueOfTooMany",
                [](FakeGuest& g) {
                  Ready(g);
                  g.device(0).Ask(VhostRequest::kSetVringNum, VringState{0, 2048});
                },
                "invalid size, 2048 descriptors"},
        Hostile{"QueueSizeNoPowerOfTwo",
                [](FakeGuest& g) {
                  Ready(g);
                  g.device(0).Ask(VhostRequest::kSetVringNum, VringState{0, 17});
                },
                "invalid size, 17 descriptors"},
        Hostile{"ThirdQueue",
                [](FakeGuest& g) {
                  Ready(g);
                  g.device(0).Ask(VhostRequest::kSetVringNum, VringState{2, 16});
                },
                "queue 2"},
        Hostile{"ShortPayload",
                [](FakeGuest& g) {
                  Ready(g);
                  g.device(0).Ask(VhostRequest::kSetVringAddr, uint32_t{0});
                },
                "SET_VRING_ADDR with 4 bytes"},
        Hostile{"UnknownRequest",
                [](FakeGuest& g) {
                  Ready(g);
                  g.device(0).Ask(static_cast<VhostRequest>(99), uint32_t{0});
                },
                "request 99"},
        Hostile{"DescriptorsInACircle",
                [](FakeGuest& g) {
                  Ready(g);
                  g.device(0).Offer(NetBackend::kTxQueue, 3, 60, false);
                  g.device(0).At<uint16_t>(FakeDevice::Descriptors(1) + 3 * 16 + 12) = 1;
                  g.device(0).At<uint16_t>(FakeDevice::Descriptors(1) + 3 * 16 + 14) = 3;
                  g.device(0).Kick();
                },
                "an endless chain"},
        Hostile{"DescriptorOutsideTheQueue",
                [](FakeGuest& g) {
                  Ready(g);
                  g.device(0).OfferHead(NetBackend::kTxQueue, 16);
                  g.device(0).Kick();
                },
                "descriptor 16"},
        Hostile{"MoreBuffersThanTheQueueHolds",
                [](FakeGuest& g) {
                  Ready(g);
                  g.device(0).At<uint16_t>(FakeDevice::AvailableRing(1) + 2) = 17;
                  g.device(0).Kick();
                },
                "17 buffers"},
        Hostile{"ReceiveBufferToRead",
                [](FakeGuest& g) {
                  Ready(g);
                  for (uint32_t i = 0; i < FakeDevice::kQueueSize; ++i) {
                    g.device(0).At<uint16_t>(FakeDevice::Descriptors(0) + 16 * i + 12) = 0;
                  }
                  g.AwaitEnd();
                },
                "wrong direction"},
        Hostile{"KicksAnothersDevice",
                [](FakeGuest& g) {
                  Ready(g);
                  g.KickInMemory(16 + NetBackend::kTxQueue);
                  g.AwaitEnd();
                },
                "sent a notification for device 1", Duration::Seconds(30),
                FakeSchedule::kSharedQueues},
        Hostile{"DiesWithoutRinging",
                [](FakeGuest& g) {
                  Ready(g);
                  g.Wait();
                  g.Close();
                },
                "is not running", Duration::Seconds(30), FakeSchedule::kDoorbells},
        Hostile{"NeverRings",
                [](FakeGuest& g) {
                  Ready(g);
                  g.SleepUntil(2'000'500'000);  // an instant before the frame's arrival
                  for (;;) g.Call(static_cast<TimeTravelOp>(0), 0);
                },
                "polls without sleeping", Duration::Seconds(30), FakeSchedule::kDoorbells, kNone}),
    [](const auto& info) { return info.param.name; });

// Checks that a guest's changes of the shared schedule and of its memory affect only that guest.
TEST(HostileSchedule, MovesNothingInTheSimulator) {
  for (const FakeSchedule kind : {FakeSchedule::kSharedQueues, FakeSchedule::kDoorbells}) {
    EventQueue queue;
    std::atomic<int> runs = 0;  // atomic, because the guest is a thread
    FakeGuest fake(kind, [&](FakeGuest& g) {
      Ready(g);
      g.Word<uint16_t>(FakeGuest::kMaxClients) = 65535;
      for (const off_t size : {0, 4096, 1 << 20}) {
        EXPECT_EQ(ftruncate(g.schedule_fd(), size), -1);
        EXPECT_EQ(errno, EPERM);
      }
      for (;; ++runs) g.SleepUntil(g.Now() + kMs);
    });
    Calendar calendar(queue);
    calendar.AddGuest("guest", fake.Launcher()).AddNic(kMac);
    calendar.Boot();
    EXPECT_EQ(ErrorOf([&] { queue.RunUntil(AtMs(50)); }), "no error");
    EXPECT_GE(runs, 50);
  }
}

TEST(NicTest, FullRingLosesFrames) {
  EventQueue queue;
  FakeGuest fake(FakeSchedule::kShared, [](FakeGuest& g) {
    Ready(g);
    g.AwaitEnd();
  });
  Calendar calendar(queue);
  Nic& nic = calendar.AddGuest("guest", fake.Launcher()).AddNic(kMac);
  EXPECT_FALSE(nic.Deliver(Frame(60, 0)));
  EXPECT_EQ(nic.counters().rx_dropped_not_ready, 1U);
  calendar.Boot();
  queue.Schedule(AtMs(1), [&] {
    for (uint32_t i = 0; i < FakeDevice::kQueueSize - 1; ++i) {
      EXPECT_TRUE(nic.Deliver(Frame(60, 0)));
    }
    EXPECT_FALSE(nic.Deliver(Frame(4000, 0))) << "needs two buffers, one is left";
    EXPECT_TRUE(nic.Deliver(Frame(60, 0)));
    EXPECT_FALSE(nic.Deliver(Frame(60, 0)));
  });
  queue.RunUntil(AtMs(2));
  EXPECT_EQ(nic.counters().rx_frames, FakeDevice::kQueueSize);
  EXPECT_EQ(nic.counters().rx_dropped_ring_full, 2U);
}

}  // namespace
}  // namespace viaduct::guest
