// Tests of guests whose kernels use different kinds of schedules in one calendar, and of the
// features of the schedule in memory: queues and doorbells.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "guest/test/calendar_test_support.h"

namespace viaduct::guest {
namespace {

using testing::HasSubstr;

using Kinds = std::vector<FakeSchedule>;

// A fixture with guests of different kernels in one calendar. The parameter has the guests' kinds
// of schedules; the tests run with several orders of the kinds.
class MixedGuestsTest : public testing::TestWithParam<Kinds> {
 protected:
  // The sent frames in order: the sending guest's slot, and the instant in nanoseconds.
  using Log = std::vector<std::pair<int, int64_t>>;

  MixedGuestsTest() { Restart(); }
  void Restart() {
    calendar_.reset();
    fakes_.clear();
    log_.clear();
    queue_ = std::make_unique<EventQueue>();
    CalendarOptions options;
    options.uptime = Duration::Milliseconds(10);
    calendar_ = std::make_unique<Calendar>(*queue_, options);
  }
  // Creates the next guest, with the next kind of schedule and one device. The guest's frames are
  // recorded in log_, and `sent` is called for each frame.
  Nic& Make(FakeGuest::Script script, std::function<void()> sent = {}) {
    const size_t slot = fakes_.size() + 1;
    fakes_.push_back(std::make_unique<FakeGuest>(GetParam().at(slot - 1), std::move(script)));
    Nic& nic = calendar_->AddGuest("guest " + std::to_string(slot), fakes_.back()->Launcher())
                   .AddNic(kMac);
    nic.SetTransmit([this, &nic, slot, sent = std::move(sent)](auto, Nic::Token token) {
      log_.emplace_back(slot, queue_->Now().nanoseconds());
      nic.TransmitDone(token);
      if (sent) sent();
    });
    return nic;
  }
  // Runs a guest that sends each received frame back.
  static void Echo(FakeGuest& guest) {
    Ready(guest);
    for (;;) {
      guest.Wait();
      for (const auto& frame : guest.device(0).TakeFrames()) guest.device(0).Send(frame);
    }
  }
  // Delivers a frame to a device after a millisecond.
  void DeliverLater(Nic& nic) {
    queue_->Schedule(queue_->Now() + Duration::Milliseconds(1),
                     [&nic] { EXPECT_TRUE(nic.Deliver(Frame(60, 1))); });
  }

  std::unique_ptr<EventQueue> queue_;
  Log log_;
  std::vector<std::unique_ptr<FakeGuest>> fakes_;
  std::unique_ptr<Calendar> calendar_;  // destroyed first, which ends the guests' scripts
};

std::string NameOfKinds(const testing::TestParamInfo<Kinds>& info) {
  std::string name;
  for (const FakeSchedule kind : info.param) {
    name += NameOf(testing::TestParamInfo<FakeSchedule>(kind, 0)) + "_";
  }
  return name.substr(0, name.size() - 1);
}

constexpr auto kMessages = FakeSchedule::kMessages;
constexpr auto kShared = FakeSchedule::kShared;
constexpr auto kQueues = FakeSchedule::kSharedQueues;
constexpr auto kBells = FakeSchedule::kDoorbells;
INSTANTIATE_TEST_SUITE_P(
    Orders, MixedGuestsTest,
    testing::Values(Kinds{kMessages, kShared, kQueues}, Kinds{kMessages, kQueues, kShared},
                    Kinds{kShared, kMessages, kQueues}, Kinds{kShared, kQueues, kMessages},
                    Kinds{kQueues, kMessages, kShared}, Kinds{kQueues, kShared, kMessages},
                    Kinds{kBells, kMessages, kQueues}, Kinds{kQueues, kBells, kShared},
                    Kinds{kShared, kBells, kBells}, Kinds{kBells, kBells, kBells}),
    NameOfKinds);

TEST_P(MixedGuestsTest, RunInTheirOrderAtOneInstant) {
  for (int i = 0; i < 3; ++i) {
    Make([](FakeGuest& guest) {
      Ready(guest);
      for (const uint64_t nanosecond : {0, 5}) {
        guest.SleepUntil(15 * kMs + nanosecond);
        guest.device(0).Send(Frame(60, 1));
      }
      guest.AwaitEnd();
    });
  }
  calendar_->Boot();
  queue_->RunUntil(AtMs(10));
  EXPECT_EQ(log_, (Log{{1, 5'000'000},
                       {2, 5'000'000},
                       {3, 5'000'000},
                       {1, 5'000'005},
                       {2, 5'000'005},
                       {3, 5'000'005}}));
}

// Lets the first guest run for a long time after it has sent a frame. The frame's path through the
// two other guests must limit the first guest's clock at each arrival.
TEST_P(MixedGuestsTest, PromiseShrinksForWhatAnotherWillDo) {
  Nic* second = nullptr;
  Nic* third = nullptr;
  bool first_frame = true;
  Make(
      [](FakeGuest& guest) {
        Ready(guest);
        guest.SleepUntil(12 * kMs);
        guest.device(0).Send(Frame(60, 1));
        guest.SleepUntil(30 * kMs);
        guest.device(0).Send(Frame(60, 2));
        guest.AwaitEnd();
      },
      [&] {
        if (std::exchange(first_frame, false)) DeliverLater(*second);
      });
  second = &Make(Echo, [&] { DeliverLater(*third); });
  third = &Make(Echo);
  calendar_->Boot();
  queue_->RunUntil(AtMs(40));
  EXPECT_EQ(log_, (Log{{1, 2'000'000}, {2, 3'000'000}, {3, 4'000'000}, {1, 20'000'000}}));
}

TEST_P(MixedGuestsTest, OneThatFailsIsNamedAndEndsAll) {
  const std::vector<std::pair<FakeGuest::Script, std::string>> ways{
      {[](FakeGuest& guest) { guest.Close(); }, "is not running"},
      {[](FakeGuest& guest) {
         Raw(guest, {77, 1, 0, 0});
       },
       "sent an unknown time-travel operation"},
      {[](FakeGuest& guest) {
         guest.SetClock(900'000 * kMs);
         guest.Call(TimeTravelOp::kUpdate, 900'000 * kMs);
       },
       "set its clock to"},
      {[](FakeGuest& guest) {
         guest.device(0).Ask(VhostRequest::kSetVringNum, VringState{2, 16});
       },
       "queue 2"}};
  for (const auto& [fail, said] : ways) {
    Restart();
    const auto script = [&fail = fail](FakeGuest& guest) {
      Ready(guest);
      guest.SleepUntil(12 * kMs);
      fail(guest);
      for (;;) guest.Call(static_cast<TimeTravelOp>(0), 0);  // the guest never waits again
    };
    Nic& first = Make(Echo);
    Make(script);
    Make(Echo);
    calendar_->Boot();
    queue_->Schedule(AtMs(1), [&] { EXPECT_TRUE(first.Deliver(Frame(60, 1))); });
    const std::string error = ErrorOf([&] { queue_->RunUntil(AtMs(10)); });
    EXPECT_THAT(error, testing::StartsWith("kernel guest 2 "));
    EXPECT_THAT(error, HasSubstr(said));
    EXPECT_THAT(error, testing::EndsWith(", at 0.002000000 s"));
    const uint64_t runs = calendar_->counters().runs;
    queue_->RunUntil(AtMs(20));
    EXPECT_EQ(calendar_->counters().runs, runs) << "no guest is let run any more";
    EXPECT_EQ(log_, (Log{{1, 1'000'000}}));
  }
}

class SharedQueues : public testing::TestWithParam<FakeSchedule> {};
INSTANTIATE_TEST_SUITE_P(Schedules, SharedQueues, testing::Values(kQueues, kBells), NameOf);

// Checks that more queues can be used at one instant than the schedule has space for, in both
// directions.
TEST_P(SharedQueues, ManyAtOneInstant) {
  constexpr size_t kDevices = 60;
  size_t received = 0;
  std::vector<uint16_t> calls;
  EventQueue queue;
  FakeGuest fake(GetParam(), [&](FakeGuest& g) {
    g.Start();
    g.ConnectDevices(kDevices);
    for (;;) {
      g.Wait();
      for (size_t i = 0; i < kDevices; ++i) {
        for (const auto& frame : g.device(i).TakeFrames()) {
          ++received;
          g.device(i).Send(frame);
        }
      }
      calls = g.calls();
    }
  });
  std::vector<int64_t> sent;
  {
    Calendar calendar(queue);
    Guest& guest = calendar.AddGuest("guest", fake.Launcher());
    for (size_t i = 0; i < kDevices; ++i) {
      Nic& nic = guest.AddNic(kMac);
      nic.SetTransmit([&](auto, Nic::Token token) {
        sent.push_back(queue.Now().nanoseconds());
        nic.TransmitDone(token);
      });
    }
    calendar.Boot();
    for (const int ms : {1, 2}) {
      queue.Schedule(AtMs(ms), [&] {
        for (const auto& nic : guest.nics()) EXPECT_TRUE(nic->Deliver(Frame(60, 1)));
      });
    }
    queue.RunUntil(AtMs(3));
    EXPECT_GT(calendar.counters().calls, kDevices);
  }
  fake.Join();
  EXPECT_EQ(received, 2 * kDevices);
  EXPECT_EQ(sent.size(), 2 * kDevices);
  EXPECT_EQ(std::count(sent.begin(), sent.end(), 2'000'000), kDevices);
  // The first interrupt of a device is a message; the interrupt of the next frame is in memory.
  for (size_t i = 0; i < kDevices; ++i) {
    EXPECT_THAT(calls, testing::Contains(16 * i + NetBackend::kRxQueue));
  }
}

// Checks that a guest does not leave an instant before it has received all interrupts of the
// instant. Otherwise the guest's timers would advance its clock, and the clock would be set back
// for the remaining interrupts, which makes a kernel panic.
TEST_P(SharedQueues, GuestStaysAtTheInstantUntilItHasAllInterrupts) {
  constexpr size_t kDevices = 60;
  std::vector<uint64_t> called;  // the instants of the interrupts, in ns
  EventQueue queue;
  FakeGuest fake(GetParam(), [&](FakeGuest& g) {
    g.Start();
    g.ConnectDevices(kDevices);
    for (;;) {
      const uint64_t now = g.Wait();
      for (size_t i = 0; i < kDevices; ++i) g.device(i).TakeFrames();
      called.insert(called.end(), g.calls().size() - called.size(), now);
      g.AdvanceIfFree(now + 100);
    }
  });
  uint64_t at = 0;
  {
    Calendar calendar(queue);
    Guest& guest = calendar.AddGuest("guest", fake.Launcher());
    for (size_t i = 0; i < kDevices; ++i) guest.AddNic(kMac);
    calendar.Boot();
    for (const int ms : {1, 2}) {
      queue.Schedule(AtMs(ms), [&] {
        for (const auto& nic : guest.nics()) EXPECT_TRUE(nic->Deliver(Frame(60, 1)));
      });
    }
    queue.RunUntil(AtMs(3));
    at = static_cast<uint64_t>(calendar.UptimeAt(AtMs(2)).nanoseconds());
  }
  fake.Join();
  EXPECT_EQ(called, std::vector<uint64_t>(kDevices, at));
}

// Runs a guest with a doorbell, which receives a frame in each of the first `frames` milliseconds.
// Returns the instants (ns) at which the guest sends frames.
std::vector<int64_t> SentWithDoorbell(int frames, FakeGuest::Script script) {
  EventQueue queue;
  FakeGuest fake(kBells, std::move(script));
  std::vector<int64_t> sent;
  Calendar calendar(queue);
  Nic& nic = calendar.AddGuest("guest", fake.Launcher()).AddNic(kMac);
  nic.SetTransmit([&](auto, Nic::Token token) {
    sent.push_back(queue.Now().nanoseconds());
    nic.TransmitDone(token);
  });
  calendar.Boot();
  for (int ms = 1; ms <= frames; ++ms) {
    queue.Schedule(AtMs(ms), [&] { EXPECT_TRUE(nic.Deliver(Frame(60, 1))); });
  }
  queue.RunUntil(AtMs(frames + 5));
  return sent;
}

// Checks that a wait that is both counted in memory and sent as a message ends only one run: the
// calendar may begin to wait for messages when a guest is ringing its doorbell.
TEST(Doorbells, WaitSaidTwiceEndsOneRun) {
  const auto sent = SentWithDoorbell(20, [](FakeGuest& g) {
    Ready(g);
    for (;;) {
      const uint32_t waits = g.TellWait();
      g.Send(TimeTravelOp::kWait, waits);
      g.AwaitTurn();
      for (const auto& frame : g.device(0).TakeFrames()) g.device(0).Send(frame);
    }
  });
  ASSERT_EQ(sent.size(), 20U);
  for (size_t i = 0; i < sent.size(); ++i) {
    EXPECT_EQ(sent[i], static_cast<int64_t>(i + 1) * 1'000'000);
  }
}

// Checks that a guest may send messages in a run that lasts longer than the time for which the
// calendar watches only the doorbell.
TEST(Doorbells, BusyGuestMaySendMessages) {
  const auto sent = SentWithDoorbell(0, [](FakeGuest& g) {
    Ready(g);
    g.SleepUntil(2'001 * kMs);
    g.device(0).Ask(VhostRequest::kSetVringEnable, VringState{NetBackend::kRxQueue, 1});
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    g.device(0).Send(Frame(60, 1));
    g.AwaitEnd();
  });
  EXPECT_THAT(sent, testing::ElementsAre(1'000'000));
}

}  // namespace
}  // namespace viaduct::guest
