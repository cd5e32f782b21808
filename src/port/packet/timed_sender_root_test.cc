// Tests frames with due times on a veth pair whose queueing discipline keeps the frames. The tests
// are skipped if the kernel lacks the queueing discipline; tests/ns3/device/test_departures.py runs
// the tests on a kernel in virtual time that has it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <net/if.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "base/clock.h"
#include "port/packet/ring_port.h"
#include "port/packet/timed_sender.h"
#include "port/test/test_network.h"

namespace viaduct::io {
namespace {

using wire::packet::FromHex;
using Result = TimedSender::Result;

std::vector<std::byte> Numbered(uint8_t number, size_t bytes = 60) {
  std::vector<std::byte> frame = FromHex("020000000002 020000000001 88b5");
  frame.resize(bytes);
  frame[14] = std::byte{number};
  return frame;
}

struct Case {
  std::string qdisc;
  TimedSender::Clock clock;
};

class TimedSenderTest : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    const std::string add = "tc qdisc add dev a0 root " + GetParam().qdisc + " 2>/dev/null";
    const int status = network_.a.In([&] { return std::system(add.c_str()); });
    if (status != 0) GTEST_SKIP() << "this kernel has no qdisc " << GetParam().qdisc;
  }
  TimedSender Open() { return {network_.a.PacketSocket(), network_.a_index, GetParam().clock}; }
  RingPort Outside() {
    return {network_.b.PacketSocket(), RingOptions{.ifindex = network_.b_index}};
  }
  // Waits until all sent frames have a fate.
  static void Settle(TimedSender& sender) {
    while (sender.Waiting() > 0) {
      pollfd entry{sender.fd(), 0, 0};
      poll(&entry, 1, 100);
      sender.ReadFates(MonotonicClock::Now());
    }
  }
  static std::vector<int> NumbersFrom(RingPort& port, size_t wanted) {
    std::vector<int> numbers;
    std::vector<ReceivedFrame> burst(64);
    while (numbers.size() < wanted && IsReadable(port.fd())) {
      const size_t count = port.Receive(burst);
      for (size_t i = 0; i < count; ++i)
        numbers.push_back(std::to_integer<int>(burst[i].bytes[14]));
    }
    return numbers;
  }

  TestNetwork network_{/*ipv6=*/false};
};

TEST_P(TimedSenderTest, FramesLeaveAtTheirTimesInTheirOrder) {
  TimedSender sender = Open();
  RingPort outside = Outside();
  const Instant start = MonotonicClock::Now() + Duration::Milliseconds(200);
  for (const int number : {3, 1, 4, 2, 0}) {
    ASSERT_EQ(sender.Send(Numbered(static_cast<uint8_t>(number)),
                          start + Duration::Milliseconds(20) * number),
              Result::kTaken);
  }
  EXPECT_EQ(sender.Waiting(), 5U);
  EXPECT_THAT(NumbersFrom(outside, 5), testing::ElementsAre(0, 1, 2, 3, 4));
  EXPECT_GE(MonotonicClock::Now(), start + Duration::Milliseconds(79));
  Settle(sender);
  EXPECT_EQ(sender.counters().sent, 5U);
  EXPECT_EQ(sender.counters().bytes, 300U);
  EXPECT_EQ(sender.counters().left, 5U);
  EXPECT_EQ(sender.lateness().Count(), 5U);
  // No frame leaves early, except with etf by at most its delta.
  EXPECT_LE(sender.earliest(), Duration::Milliseconds(1));
  EXPECT_EQ(sender.counters().missed + sender.counters().unheard, 0U);
}

TEST_P(TimedSenderTest, WhatIsOverLeavesAtOnceOrIsNotTaken) {
  TimedSender sender = Open();
  RingPort outside = Outside();
  const Instant now = MonotonicClock::Now();
  const bool fq = GetParam().clock == TimedSender::Clock::kMonotonic;
  ASSERT_EQ(sender.Send(Numbered(1), now + Duration::Milliseconds(100)), Result::kTaken);
  EXPECT_EQ(sender.Send(Numbered(0), now - Duration::Milliseconds(50)),
            fq ? Result::kTaken : Result::kNoRoom);
  EXPECT_EQ(NumbersFrom(outside, fq ? 2 : 1), fq ? std::vector({0, 1}) : std::vector({1}));
  Settle(sender);
  EXPECT_EQ(sender.counters().left, fq ? 2U : 1U);
  EXPECT_EQ(sender.counters().missed + sender.counters().unheard, 0U);
  EXPECT_EQ(sender.lateness().Max() >= 50'000'000, fq);
}

TEST_P(TimedSenderTest, NothingIsSentThatCannotBe) {
  TimedSender sender = Open();
  const Instant due = MonotonicClock::Now() + Duration::Milliseconds(50);
  EXPECT_EQ(sender.Send(Numbered(1, 1600), due), Result::kRefused);
  network_.a.Run("ip link set a0 down");
  EXPECT_EQ(sender.Send(Numbered(1), due), Result::kRefused);
  network_.a.Run("ip link del a0");
  EXPECT_EQ(sender.Send(Numbered(1), due), Result::kRefused);
  EXPECT_EQ(sender.counters().refused, 3U);
  EXPECT_EQ(sender.counters().sent, 0U);
}

TEST_P(TimedSenderTest, WhatTheQdiscLosesIsUnheard) {
  TimedSender sender = Open();
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(sender.Send(Numbered(1), MonotonicClock::Now() + Duration::Milliseconds(300)),
              Result::kTaken);
  }
  network_.a.Run("ip link set a0 down");  // drops the frames that its qdisc holds
  Settle(sender);
  EXPECT_EQ(sender.counters().unheard, 3U);
  EXPECT_EQ(sender.counters().left, 0U);
}

TEST_P(TimedSenderTest, AFullQdiscSaysSoAndLosesNothing) {
  TimedSender sender = Open();
  RingPort outside = Outside();
  const Instant due = MonotonicClock::Now() + Duration::Milliseconds(500);
  size_t taken = 0;
  Result result = Result::kTaken;
  while (taken < 2000 && result == Result::kTaken) {
    result = sender.Send(Numbered(static_cast<uint8_t>(taken)), due);
    if (result == Result::kTaken) ++taken;
  }
  EXPECT_EQ(result, Result::kNoRoom);
  // Sends one more frame to the full qdisc: the ids must still match the frames afterwards.
  sender.Send(Numbered(0), due);
  EXPECT_EQ(NumbersFrom(outside, taken).size(), taken);
  Settle(sender);
  EXPECT_EQ(sender.counters().left, taken);
  EXPECT_EQ(sender.counters().sent, taken);
}

INSTANTIATE_TEST_SUITE_P(
    Qdiscs, TimedSenderTest,
    testing::Values(Case{"fq limit 300 flow_limit 200", TimedSender::Clock::kMonotonic},
                    Case{"etf clockid CLOCK_TAI delta 200000", TimedSender::Clock::kTai}),
    [](const auto& info) { return info.param.qdisc.substr(0, info.param.qdisc.find(' ')); });

}  // namespace
}  // namespace viaduct::io
