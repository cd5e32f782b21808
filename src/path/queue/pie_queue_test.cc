#include "path/queue/pie_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/wire/test/packet_builder.h"
#include "path/queue/rate_server.h"
#include "path/queue/test_queues.h"

namespace viaduct::path {
namespace {

using namespace test;
namespace p = wire::packet;

struct Pie {
  explicit Pie(PieParameters parameters = {}, uint8_t tos = 0)
      : queue(parameters, InMemory(Packets(100000), frames, {1, "pie"})) {
    frame = frames.Add(p::Build(p::Ethernet{} / p::Ipv4{.tos = tos} / p::Udp{}));
  }
  void Put(Instant now) { queue.Enqueue(MakePacket(++last, 1000, frame), now, drops); }
  // Enqueues a packet and dequeues a packet each millisecond, from `from` until before `to`, so
  // that each packet waits for `delay`.
  void Hold(int64_t from, int64_t to, int64_t delay) {
    for (int64_t ms = from; ms < to; ++ms) {
      Put(AtMs(ms));
      if (ms >= delay) queue.Dequeue(AtMs(ms), drops);
    }
  }
  Frames frames;
  FrameHandle frame;
  Drops drops;
  uint64_t last = 0;
  PieQueue queue;
};

// RFC 8033 section 4.2 with a delay of 30 ms, computed by hand. The first adjustment is alpha
// (30-15 ms) + beta (30-0 ms) = 0.001875 + 0.0375; then the delay does not grow, and the adjustment
// is 0.001875.
TEST(Pie, ProbabilityGrowsInTheStepsOfTheControlLaw) {
  Pie pie;
  pie.Hold(0, 31, 30);  // the first packet is sent at 30 ms
  pie.queue.UpdateUntil(At(44999999));
  EXPECT_EQ(pie.queue.drop_probability(), 0);
  pie.queue.UpdateUntil(AtMs(45));
  double expected = 0.039375 / 2048;
  EXPECT_DOUBLE_EQ(pie.queue.drop_probability(), expected);
  pie.queue.UpdateUntil(AtMs(60));
  expected += 0.001875 / 128;  // divisor for a probability of 1.9e-5, below 0.0001
  EXPECT_DOUBLE_EQ(pie.queue.drop_probability(), expected);
  // The divisor is 32 once the probability has reached 1.07e-4.
  const double divisors[] = {128, 128, 128, 128, 128, 32, 32};
  for (size_t i = 0; i < std::size(divisors); ++i) {
    pie.queue.UpdateUntil(AtMs(75 + 15 * static_cast<int64_t>(i)));
    expected += 0.001875 / divisors[i];
    EXPECT_DOUBLE_EQ(pie.queue.drop_probability(), expected) << i;
  }
}

TEST(Pie, AnyNumberOfUpdatesAtOnceIsTheSame) {
  Pie often, seldom;
  often.Hold(0, 40, 30);
  seldom.Hold(0, 40, 30);
  for (int64_t us = 40000; us <= 3000000; us += 100) often.queue.UpdateUntil(At(us * 1000));
  seldom.queue.UpdateUntil(AtMs(3000));
  EXPECT_EQ(often.queue.drop_probability(), seldom.queue.drop_probability());
  EXPECT_EQ(often.queue.burst_allowance(), seldom.queue.burst_allowance());
}

// RFC 8033 section 5.5: once the probability has reached 0.1, no step is larger than 0.02.
TEST(Pie, LargeStepsAreCapped) {
  PieParameters parameters;
  parameters.alpha = 100;
  Pie pie(parameters);
  pie.Hold(0, 31, 30);
  pie.queue.UpdateUntil(AtMs(45));  // the probability is (100 x 0.015 + 0.0375) / 2048
  pie.queue.UpdateUntil(AtMs(60));  // adds 1.5 / 32 to the probability
  EXPECT_NEAR(pie.queue.drop_probability(), 0.0476, 0.0001);
  pie.queue.UpdateUntil(AtMs(75));  // adds 1.5 / 2 to the probability
  const double large = pie.queue.drop_probability();
  EXPECT_NEAR(large, 0.7976, 0.0001);
  pie.queue.UpdateUntil(AtMs(90));
  EXPECT_DOUBLE_EQ(pie.queue.drop_probability(), large + 0.02);
  pie.queue.UpdateUntil(AtMs(2000));
  EXPECT_EQ(pie.queue.drop_probability(), 1);
}

// RFC 8033 section 4.2: without delay, the probability decreases by 2% per update, until the
// controller itself reduces it to zero.
TEST(Pie, DecaysWhenTheQueueIsEmpty) {
  PieParameters parameters;
  parameters.alpha = 100;
  Pie pie(parameters);
  pie.Hold(0, 31, 30);
  pie.queue.UpdateUntil(AtMs(75));
  while (!pie.queue.Empty()) pie.queue.Dequeue(AtMs(76), pie.drops);
  const double full = pie.queue.drop_probability();
  pie.queue.UpdateUntil(AtMs(90));  // delay 0, old delay 30 ms: adjustment -1.5 - 0.0375
  EXPECT_LT(pie.queue.drop_probability(), full);
  EXPECT_EQ(pie.queue.drop_probability(), 0);
  Pie slow;
  slow.Hold(0, 200, 30);
  while (!slow.queue.Empty()) slow.queue.Dequeue(AtMs(200), slow.drops);
  slow.queue.UpdateUntil(AtMs(225));
  const double before = slow.queue.drop_probability();
  slow.queue.UpdateUntil(AtMs(240));
  const double step = before < 1e-6 ? 2048 : before < 1e-5 ? 512 : before < 1e-4 ? 128 : 32;
  EXPECT_DOUBLE_EQ(slow.queue.drop_probability(),
                   std::max(0.0, (before - 0.125 * 0.015 / step) * 0.98));
}

// RFC 8033 section 4.4: the first 150 ms of a burst pass; the burst allowance is restored when the
// queue is calm.
TEST(Pie, ABurstPassesFirst) {
  PieParameters parameters;
  parameters.alpha = 100;  // so that the probability is 1 soon
  Pie pie(parameters);
  EXPECT_EQ(pie.queue.burst_allowance(), Duration::Milliseconds(150));
  int64_t first_drop = 0;
  for (int64_t ms = 0; ms < 400 && first_drop == 0; ++ms) {
    pie.Put(AtMs(ms));
    if (ms >= 30) pie.queue.Dequeue(AtMs(ms), pie.drops);
    if (!pie.drops.all.empty()) first_drop = ms;
  }
  // The queue is calm (delay and old delay below half the target) until the update at 30 ms. Then
  // ten updates, the first at 45 ms, use up the burst allowance.
  EXPECT_EQ(first_drop, 180);
  while (!pie.queue.Empty()) pie.queue.Dequeue(AtMs(400), pie.drops);
  pie.queue.UpdateUntil(AtMs(2000));
  EXPECT_EQ(pie.queue.burst_allowance(), Duration::Milliseconds(150));
}

// No packet is dropped while two or fewer frames wait, at any probability.
TEST(Pie, KeepsTheLinkBusy) {
  PieParameters parameters;
  parameters.alpha = 1000;
  Pie pie(parameters);
  pie.Hold(0, 150, 30);
  pie.queue.UpdateUntil(AtMs(700));
  EXPECT_EQ(pie.queue.drop_probability(), 1);
  while (pie.queue.packets() > 3) pie.queue.Dequeue(AtMs(701), pie.drops);
  pie.drops.all.clear();
  pie.Put(AtMs(701));  // 3000 bytes wait
  EXPECT_EQ(pie.drops.all.size(), 0u);
  pie.Put(AtMs(701));  // 4000 bytes wait
  EXPECT_EQ(pie.drops.all.size(), 1u);
}

// A link of 10 Mbit/s with an offered load of 12 Mbit/s: PIE holds the delay at the target and
// drops the excess, a sixth, evenly: after a drop at least 0.85/p packets pass (RFC 8033 section
// 5.4).
struct Overload {
  explicit Overload(PieParameters parameters, uint8_t tos) : pie(parameters, tos) {
    Instant free = At(0);
    ConstantRate link(10000000);
    const int64_t gap = 1000LL * 8 * 1000 / 12;
    for (int64_t i = 0; i < 60000; ++i) {
      const Instant now = At(i * gap);
      while (free <= now && !pie.queue.Empty()) {
        const auto packet = pie.queue.Dequeue(free, pie.drops);
        if (now > AtMs(15000)) delay += (free - packet->ready).ToSeconds(), ++sent;
        marked += packet->marked ? 1 : 0;
        free = link.Send(free, packet->bytes);
      }
      if (free < now) free = now;
      const size_t before = pie.drops.all.size();
      pie.Put(now);
      if (now <= AtMs(15000)) continue;
      ++arrived;
      highest = std::max(highest, pie.queue.drop_probability());
      if (pie.drops.all.size() > before) ++dropped, gaps.push_back(i - last), last = i;
    }
  }
  Pie pie;
  double delay = 0, highest = 0;
  int64_t sent = 0, arrived = 0, dropped = 0, marked = 0, last = 0;
  std::vector<int64_t> gaps;
};

TEST(Pie, HoldsTheDelayAtTheTarget) {
  Overload run({}, 0);
  EXPECT_NEAR(run.delay / static_cast<double>(run.sent), 0.015, 0.0015);
  EXPECT_NEAR(static_cast<double>(run.dropped) / static_cast<double>(run.arrived), 1.0 / 6, 0.005);
}

TEST(Pie, DropsAreSpread) {
  Overload run({}, 0);
  ASSERT_GT(run.gaps.size(), 1000u);
  const auto least = static_cast<int64_t>(0.85 / run.highest);
  EXPECT_GE(least, 2);
  for (size_t i = 1; i < run.gaps.size(); ++i) ASSERT_GE(run.gaps[i], least);
}

// RFC 8033 section 5.1: above a probability of 10%, ECN-capable packets are dropped instead of
// marked.
TEST(Pie, MarksBelowTenPercentAndDropsAbove) {
  PieParameters parameters;
  parameters.ecn = true;
  Overload run(parameters, 2);
  EXPECT_GT(run.marked, 0);
  EXPECT_GT(run.dropped, 1000);
  EXPECT_GT(run.highest, 0.1);
  Overload plain(parameters, 0);
  EXPECT_EQ(plain.marked, 0);
}

}  // namespace
}  // namespace viaduct::path
