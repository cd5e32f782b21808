#include "guest/time/kernel_sockets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "guest/test/calendar_test_support.h"
#include "guest/test/socket_ring_guest.h"

namespace viaduct::guest {
namespace {

using testing::ElementsAre;

constexpr uint64_t kUptimeMs = 10;  // the guest's uptime when the simulation starts

class KernelSocketsTest : public testing::Test {
 protected:
  KernelSocketsTest() { options_.uptime = Duration::Milliseconds(kUptimeMs); }
  void Make(FakeGuest::Script script, FakeSchedule kind = FakeSchedule::kSockets) {
    fake_ = std::make_unique<FakeGuest>(kind, std::move(script));
    calendar_ = std::make_unique<Calendar>(queue_, options_);
    sockets_ = std::make_unique<KernelSockets>(
        *calendar_, calendar_->AddGuest("guest of the test", fake_->Launcher()));
    sockets_->SetReceiver([this](const SocketEvent& event) {
      seen_.emplace_back(calendar_->Present().nanoseconds() / 1'000'000, event.value);
    });
  }
  void CreditAt(int64_t ms, uint32_t bytes) {
    queue_.Schedule(AtMs(ms), [this, bytes] {
      sockets_->Put({SocketOperation::Code::kCredit, 1, bytes, false, false}, {});
    });
  }

  EventQueue queue_;
  CalendarOptions options_;
  std::unique_ptr<FakeGuest> fake_;
  std::unique_ptr<Calendar> calendar_;
  std::unique_ptr<KernelSockets> sockets_;
  std::vector<std::pair<int64_t, uint32_t>> seen_;  // the instant in ms, and the event's value
};

TEST_F(KernelSocketsTest, OperationsAndEventsAreOfTheirInstants) {
  std::vector<std::pair<uint64_t, std::string>> taken;
  Make([&](FakeGuest& guest) {
    guest.Start();
    SocketRingGuest ring(guest.rings());
    for (;;) {
      guest.Request((kUptimeMs + 7) * kMs);
      guest.Wait();
      for (const std::string& operation : ring.TakeOperations())
        taken.emplace_back(guest.Now() / kMs, operation);
      if (guest.Now() >= (kUptimeMs + 7) * kMs) break;
    }
    ring.PutEvent({0x101, 0, 0, 1, 42});
    guest.AwaitEnd();
  });
  EXPECT_FALSE(sockets_->Available());
  calendar_->Boot();
  EXPECT_TRUE(sockets_->Available());
  CreditAt(3, 100);
  CreditAt(3, 101);
  CreditAt(5, 102);
  queue_.RunUntil(AtMs(10));
  sockets_.reset();
  calendar_.reset();
  fake_->Join();
  EXPECT_THAT(taken, ElementsAre(std::pair(uint64_t{13}, "3 socket 1 value 100"),
                                 std::pair(uint64_t{13}, "3 socket 1 value 101"),
                                 std::pair(uint64_t{15}, "3 socket 1 value 102")));
  EXPECT_THAT(seen_, ElementsAre(std::pair(7, 42)));
}

TEST_F(KernelSocketsTest, AGuestThatLacksRoomRunsAgainAtTheSameInstant) {
  Make([](FakeGuest& guest) {
    guest.Start();
    SocketRingGuest ring(guest.rings());
    guest.Wait();
    for (uint32_t i = 0; i < 3; ++i) {
      ring.PutEvent({0x101, 0, 0, 1, i});
      ring.SetStarved(i < 2);
      guest.Wait();
    }
    guest.AwaitEnd();
  });
  calendar_->Boot();
  CreditAt(3, 100);
  queue_.RunUntil(AtMs(10));
  EXPECT_THAT(seen_, ElementsAre(std::pair(3, 0), std::pair(3, 1), std::pair(3, 2)));
}

// Checks that a guest does not leave an instant before it has received all operations of the
// instant. Otherwise its clock would be set back for the remaining operations, which makes a kernel
// panic.
TEST_F(KernelSocketsTest, AGuestStaysAtTheInstantUntilItHasAllOperations) {
  constexpr size_t kOperations = 9;
  const std::vector<std::byte> large(SocketRing::kRing / 2 - 16);
  std::vector<uint64_t> taken;
  Make([&](FakeGuest& guest) {
    guest.Start();
    SocketRingGuest ring(guest.rings());
    while (taken.size() < kOperations) {
      guest.Wait();
      const size_t operations = ring.TakeOperations().size();
      taken.insert(taken.end(), operations, guest.Now() / kMs);
      guest.AdvanceIfFree(guest.Now() + kMs);
    }
    guest.AwaitEnd();
  });
  calendar_->Boot();
  queue_.Schedule(AtMs(3), [&] {
    for (size_t i = 0; i < kOperations; ++i)
      sockets_->Put({SocketOperation::Code::kSend, 1, 0, false, false}, {large});
  });
  queue_.RunUntil(AtMs(30));
  sockets_.reset();
  calendar_.reset();
  fake_->Join();
  EXPECT_EQ(taken, std::vector<uint64_t>(kOperations, kUptimeMs + 3));
}

TEST_F(KernelSocketsTest, NonsenseEndsTheRunWithOneErrorThatNamesTheGuest) {
  Make([](FakeGuest& guest) {
    guest.Start();
    SocketRingGuest ring(guest.rings());
    guest.Wait();
    ring.PutEvent({77, 0, 0, 1, 0});
    guest.AwaitEnd();
  });
  calendar_->Boot();
  CreditAt(3, 100);
  EXPECT_EQ(
      ErrorOf([&] { queue_.RunUntil(AtMs(10)); }),
      "kernel guest of the test wrote invalid data into the ring of its sockets (kind of event), "
      "at 0.003000000 s");
}

TEST_F(KernelSocketsTest, AKernelWithoutThePatchServesNone) {
  Make(
      [](FakeGuest& guest) {
        guest.Start();
        guest.AwaitEnd();
      },
      FakeSchedule::kDoorbells);
  calendar_->Boot();
  EXPECT_FALSE(sockets_->Available());
}

TEST(KernelSocketsOffer, IsOnlyMadeWhereItIsWanted) {
  EventQueue queue;
  bool offered = true;
  FakeGuest fake(FakeSchedule::kSockets, [&](FakeGuest& guest) {
    guest.Start();
    offered = guest.offered_rings();
    guest.AwaitEnd();
  });
  {
    Calendar calendar(queue);
    calendar.AddGuest("guest", fake.Launcher());
    calendar.Boot();
    EXPECT_EQ(ErrorOf([&] { queue.RunUntil(AtMs(10)); }), "no error");
  }
  fake.Join();
  EXPECT_FALSE(offered);
}

}  // namespace
}  // namespace viaduct::guest
