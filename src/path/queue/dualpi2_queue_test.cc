#include "path/queue/dualpi2_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

#include "base/wire/test/packet_builder.h"
#include "path/queue/rate_server.h"
#include "path/queue/test_queues.h"

namespace viaduct::path {
namespace {

using namespace test;
namespace p = wire::packet;

enum Ecn : uint8_t { kNotEct = 0, kL4s = 1, kEct0 = 2, kCe = 3 };

// A queue and the ECN codepoints of its packets, by packet number.
struct Dual {
  explicit Dual(DualPi2Parameters parameters = {}, QueueSize limit = DualPi2Queue::kDefaultLimit)
      : queue(parameters, InMemory(limit, frames)) {}
  void Put(Ecn codepoint, Instant now, uint32_t bytes = 1000) {
    const auto frame = frames.Add(p::Build(p::Ethernet{} / p::Ipv4{.tos = codepoint} / p::Udp{}));
    ecn.push_back(codepoint);
    queue.Enqueue(MakePacket(ecn.size(), bytes, frame), now, drops);
  }
  std::optional<Packet> Take(Instant now) { return queue.Dequeue(now, drops); }
  std::vector<uint64_t> TakeAll(Instant now) {
    std::vector<uint64_t> numbers;
    while (const auto packet = Take(now)) numbers.push_back(packet->number);
    return numbers;
  }
  Frames frames;
  Drops drops;
  std::vector<Ecn> ecn;
  DualPi2Queue queue;
};

TEST(DualPi2, TheEcnFieldDecidesTheQueue) {
  Dual dual;
  for (const Ecn codepoint : {kNotEct, kEct0, kL4s, kNotEct, kCe}) dual.Put(codepoint, At(0));
  // L4S packets leave first: the credit begins below zero, and an L4S packet adds a tenth of its
  // bytes.
  EXPECT_EQ(dual.TakeAll(At(1)), (std::vector<uint64_t>{3, 5, 1, 2, 4}));
}

TEST(DualPi2, ClassicPacketsHaveTheirShareOfTheBytes) {
  Dual dual;
  for (int i = 0; i < 1000; ++i) {
    dual.Put(kL4s, At(0), 1000);
    dual.Put(kNotEct, At(0), 500);
  }
  int64_t l4s = 0, classic = 0;
  for (int i = 0; i < 900; ++i) {
    const auto packet = dual.Take(At(1));
    (dual.ecn[packet->number - 1] == kL4s ? l4s : classic) += packet->bytes;
  }
  EXPECT_NEAR(static_cast<double>(classic) / static_cast<double>(l4s + classic), 0.1, 0.005);
}

// From a delay of 1 ms on, every L4S packet is marked, unless at most one packet waits behind it.
TEST(DualPi2, TheStepMarksL4sPackets) {
  const auto marks = [](Duration delay, int packets, DualPi2Parameters parameters = {}) {
    Dual dual(parameters);
    for (int i = 0; i < packets; ++i) dual.Put(kL4s, At(0));
    int marked = 0;
    while (const auto packet = dual.Take(At(0) + delay)) marked += packet->marked ? 1 : 0;
    return marked;
  };
  const auto us = [](int64_t n) { return Duration::Microseconds(n); };
  // The count of `recur` begins at zero, so the first of n certain marks is not made.
  EXPECT_EQ(marks(us(999), 20), 0);
  EXPECT_EQ(marks(us(1000), 20), 17);
  EXPECT_EQ(marks(us(5000), 2), 0);
  DualPi2Parameters ramp;
  ramp.step = us(800);
  ramp.range = us(400);
  EXPECT_EQ(marks(us(800), 1002, ramp), 0);
  EXPECT_EQ(marks(us(900), 1002, ramp), 249);
  EXPECT_EQ(marks(us(1100), 1002, ramp), 749);
  EXPECT_EQ(marks(us(1200), 1002, ramp), 999);
}

TEST(DualPi2, ClassicPacketsAreNotMarkedByTheStep) {
  Dual dual;
  for (int i = 0; i < 20; ++i) dual.Put(kEct0, At(0));
  while (const auto packet = dual.Take(AtMs(10))) EXPECT_FALSE(packet->marked);
}

// The expected values are computed by hand from RFC 9332 appendix A, for a delay that grows to 32
// ms until the second update.
TEST(DualPi2, TheProbabilityFollowsTheControlLaw) {
  Dual dual;
  for (int i = 0; i < 10; ++i) dual.Put(kNotEct, At(0));
  dual.queue.UpdateUntil(AtMs(16));
  double expected = 0.16 * (0.016 - 0.015) + 3.2 * 0.016;
  EXPECT_DOUBLE_EQ(dual.queue.probability(), expected);
  dual.queue.UpdateUntil(AtMs(32));
  expected += 0.16 * (0.032 - 0.015) + 3.2 * 0.016;
  EXPECT_DOUBLE_EQ(dual.queue.probability(), expected);
}

TEST(DualPi2, AnyNumberOfUpdatesAtOnceIsTheSame) {
  Dual often, seldom;
  for (Dual* dual : {&often, &seldom}) {
    for (int i = 0; i < 10; ++i) dual->Put(kNotEct, At(0));
  }
  for (int64_t us = 0; us <= 100000; us += 100) often.queue.UpdateUntil(At(us * 1000));
  seldom.queue.UpdateUntil(AtMs(100));
  EXPECT_EQ(often.queue.probability(), seldom.queue.probability());
  EXPECT_GT(often.queue.probability(), 0);
}

TEST(DualPi2, AtTheLimitTheArrivingPacketIsDropped) {
  Dual dual({}, Packets(3));
  for (const Ecn codepoint : {kL4s, kNotEct, kNotEct, kL4s, kNotEct}) dual.Put(codepoint, At(0));
  EXPECT_EQ(dual.drops.numbers(), (std::vector<uint64_t>{4, 5}));
}

// The pseudocode of RFC 9332 appendix A.1 and A.2 (overload), transcribed literally, in seconds,
// with the kernel's scheduler.
class PseudoCode {
 public:
  struct Decision {
    uint64_t number;
    char what;  // 's': sent, 'm': marked, 'd': dropped
    friend bool operator==(const Decision&, const Decision&) = default;
  };
  struct Queued {
    uint64_t number;
    int64_t at, bytes;
    Ecn ecn;
  };
  struct Queue {
    std::deque<Queued> packets;
    double count = 0;
    double time(int64_t now) const {
      return packets.empty() ? 0 : static_cast<double>(now - packets.front().at) / 1e9;
    }
  };

  void Enqueue(uint64_t number, Ecn ecn, int64_t bytes, int64_t now) {
    (ecn % 2 == 1 ? lq : cq).packets.push_back({number, now, bytes, ecn});
  }
  void Update(int64_t now) {
    const double curq = std::max(cq.time(now), lq.time(now));
    p = std::clamp(p + alpha * (curq - target) + beta * (curq - prevq), 0.0, 1.0);
    p_CL = std::min(p * k, 1.0);
    p_C = std::min(p * p, p_Cmax);
    prevq = curq;
  }
  void Dequeue(int64_t now, std::vector<Decision>& log) {
    while (!lq.packets.empty() || !cq.packets.empty()) {
      const bool l = !lq.packets.empty() && (cq.packets.empty() || credit <= 0);
      const bool both = !lq.packets.empty() && !cq.packets.empty();
      Queue& queue = l ? lq : cq;
      const Queued packet = queue.packets.front();
      queue.packets.pop_front();
      bool mark = false, drop = false;
      if (l) {
        if (p_CL < 1) {
          const double sojourn = static_cast<double>(now - packet.at) / 1e9;
          const double native = lq.packets.size() > 1 && sojourn >= 0.001 ? 1 : 0;
          mark = Recur(lq, std::max(native, p_CL));
        } else if (Recur(lq, p_C)) {
          drop = true;
        } else {
          mark = Recur(lq, p_CL);
        }
      } else if (Recur(cq, p_C)) {
        drop = packet.ecn == kNotEct || p_C >= p_Cmax;
        mark = !drop;
      }
      log.push_back({packet.number, drop ? 'd' : mark ? 'm' : 's'});
      if (drop) continue;
      if (both) credit += static_cast<double>(packet.bytes) * (l ? 0.1 : -0.9);
      return;
    }
    credit = -0.8 * 1514;
  }

 private:
  static bool Recur(Queue& queue, double likelihood) {
    queue.count += likelihood;
    if (queue.count > 1) {
      queue.count -= 1;
      return true;
    }
    return false;
  }
  static constexpr double k = 2, p_Cmax = 0.25, alpha = 0.16, beta = 3.2, target = 0.015;
  Queue lq, cq;
  double p = 0, p_CL = 0, p_C = 0, prevq = 0, credit = -0.8 * 1514;
};

// Random traffic over a link of 10 Mbit/s, at a load that changes from 30% to 300%, so that the
// controller uses its full range.
TEST(DualPi2, DecidesAsThePseudoCodePacketByPacket) {
  Dual dual;
  PseudoCode reference;
  std::vector<PseudoCode::Decision> expected, seen;
  RandomStream random(1, "traffic");
  ConstantRate link(10000000);
  Instant now = At(0), free = At(0), update;
  const auto send = [&](Instant at) {
    const size_t before = dual.drops.all.size();
    const auto packet = dual.Take(at);
    for (size_t i = before; i < dual.drops.all.size(); ++i) {
      seen.push_back({dual.drops.all[i].number, 'd'});
    }
    if (packet) seen.push_back({packet->number, packet->marked ? 'm' : 's'});
    return packet;
  };
  for (uint64_t number = 1; number <= 60000; ++number) {
    const double load = number / 6000 % 2 == 0 ? 0.3 + static_cast<double>(number) / 24000 : 0.3;
    now += Duration::Nanoseconds(static_cast<int64_t>(random.Below(1600000) / load));
    const auto advance = [&](Instant until) {
      while (update != Instant() && update <= until) {
        reference.Update(update.nanoseconds());
        update += Duration::Milliseconds(16);
      }
    };
    for (; free <= now && !dual.queue.Empty();) {
      advance(free);
      reference.Dequeue(free.nanoseconds(), expected);
      const auto packet = send(free);
      if (packet) free = link.Send(free, packet->bytes);
    }
    free = std::max(free, now);
    if (update == Instant()) update = now + Duration::Milliseconds(16);
    advance(now);
    const Ecn ecn = std::array{kNotEct, kL4s, kEct0}[random.Below(3)];
    reference.Enqueue(number, ecn, 1000, now.nanoseconds());
    dual.Put(ecn, now);
  }
  ASSERT_EQ(seen.size(), expected.size());
  std::map<char, int> kinds;
  for (size_t i = 0; i < seen.size(); ++i) {
    ASSERT_EQ(seen[i], expected[i]) << "decision " << i << ", packet " << expected[i].number;
    ++kinds[seen[i].what];
  }
  for (const char kind : {'s', 'm', 'd'}) EXPECT_GT(kinds[kind], 1000) << kind;
}

// L4S packets are marked with probability k p' and classic packets are dropped with p'^2, from the
// same probability p': for the two rates of congestion signals, drops = (marks / k)^2.
TEST(DualPi2, MarksAreCoupledToTheSquareRootOfDrops) {
  for (const double k : {2.0, 1.0}) {
    DualPi2Parameters parameters;
    parameters.coupling = k;
    parameters.step = Duration::Seconds(1);  // so that marks are made by the coupling only
    Dual dual(parameters);
    ConstantRate link(10000000);
    Instant free = At(0);
    double l4s = 0, marked = 0;
    for (int64_t i = 0; i < 200000; ++i) {
      const Instant now = At(i * 780000);  // 10.26 Mbit/s, half of it L4S packets
      for (; free <= now && !dual.queue.Empty();) {
        const auto packet = dual.Take(free);
        if (!packet) break;
        if (now > AtMs(20000) && dual.ecn[packet->number - 1] == kL4s) {
          ++l4s;
          marked += packet->marked ? 1 : 0;
        }
        free = link.Send(free, packet->bytes);
      }
      free = std::max(free, now);
      dual.Put(i % 2 == 0 ? kL4s : kNotEct, now);
    }
    const auto dropped = static_cast<double>(
        std::count_if(dual.drops.all.begin(), dual.drops.all.end(),
                      [](const Drops::Dropped& each) { return each.at > AtMs(20000); }));
    const double drops = dropped / (l4s + dropped);  // equal arrival rates of both kinds
    EXPECT_NEAR(drops, std::pow(marked / l4s / k, 2), 0.005) << "k = " << k;
    EXPECT_NEAR(drops, 2 * (1 - 0.78 / 0.8), 0.005) << "what is too much";
  }
}

}  // namespace
}  // namespace viaduct::path
