#include "path/queue/fq_pie_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/wire/test/packet_builder.h"
#include "path/queue/pie_queue.h"
#include "path/queue/rate_server.h"
#include "path/queue/test_queues.h"

namespace viaduct::path {
namespace {

using namespace test;
using testing::Each;
namespace p = wire::packet;

// A discipline under test; the packets of flow n have UDP source port n.
struct FqPie {
  explicit FqPie(FqPieParameters parameters = {}, QueueSize limit = FqPieQueue::kDefaultLimit)
      : queue(parameters, InMemory(limit, frames, {3, "queue"})) {}
  void Put(uint16_t flow, uint32_t bytes, Instant now, uint8_t tos = 0) {
    const auto frame =
        frames.Add(p::Build(p::Ethernet{} / p::Ipv4{.tos = tos} / p::Udp{.source = flow}));
    flows.push_back(flow);
    queue.Enqueue(MakePacket(flows.size(), bytes, frame), now, drops);
  }
  size_t DropsOf(uint16_t flow) const {
    const auto numbers = drops.numbers();
    return static_cast<size_t>(std::count_if(numbers.begin(), numbers.end(), [&](uint64_t number) {
      return flows[number - 1] == flow;
    }));
  }
  Frames frames;
  Drops drops;
  std::vector<uint16_t> flows;
  FqPieQueue queue;
};

TEST(FqPie, ServesFlowsInTurnByBytes) {
  FqPie fq;
  for (int i = 0; i < 30; ++i) {
    fq.Put(1, 1500, At(0));
    fq.Put(2, 500, At(0));
  }
  std::map<uint16_t, int64_t> bytes;
  for (int i = 0; i < 20; ++i) {
    const auto packet = fq.queue.Dequeue(At(1), fq.drops);
    ASSERT_TRUE(packet);
    bytes[fq.flows[packet->number - 1]] += packet->bytes;
  }
  EXPECT_LE(std::abs(bytes[1] - bytes[2]), 2 * 1514);
}

// A link of 10 Mbit/s to which flow 1 offers 12 Mbit/s and flow 2 1 Mbit/s: PIE drops the excess of
// flow 1 and holds this flow's delay at the target; packets of flow 2 neither wait nor are dropped.
struct Contest {
  explicit Contest(FqPieParameters parameters = {}, uint8_t tos = 0) : fq(parameters) {
    ConstantRate link(10000000);
    Instant free = At(0);
    for (int64_t i = 0; i < 60000; ++i) {
      const Instant now = At(i * 1000 * 8 * 1000 / 12);
      for (; free <= now && !fq.queue.Empty();) {
        const auto packet = fq.queue.Dequeue(free, fq.drops);
        if (!packet) break;
        Measure(*packet, free);
        free = link.Send(free, packet->bytes);
      }
      free = std::max(free, now);
      fq.Put(1, 1000, now, tos);
      if (i % 12 == 0) fq.Put(2, 1000, now, tos);
    }
  }
  void Measure(const Packet& packet, Instant now) {
    marked += packet.marked ? 1 : 0;
    if (now < AtMs(15000)) return;
    auto& [sum, count] = delays[fq.flows[packet.number - 1]];
    sum += (now - packet.ready).ToSeconds();
    ++count;
  }
  double MeanDelay(uint16_t flow) { return delays[flow].first / delays[flow].second; }

  FqPie fq;
  std::map<uint16_t, std::pair<double, double>> delays;
  int marked = 0;
};

TEST(FqPie, ControlsEachFlowByItself) {
  Contest contest;
  EXPECT_NEAR(contest.MeanDelay(1), 0.015, 0.002);
  EXPECT_LT(contest.MeanDelay(2), 0.002);
  EXPECT_EQ(contest.fq.DropsOf(2), 0U);
  // Flow 1 gets the 9 Mbit/s that flow 2 does not use, so a quarter of its packets is dropped.
  EXPECT_NEAR(static_cast<double>(contest.fq.DropsOf(1)), 60000 * 0.25, 60000 * 0.03);
}

TEST(FqPie, MarksWherePacketsAllowIt) {
  FqPieParameters parameters;
  parameters.pie.ecn = true;
  EXPECT_GT(Contest(parameters, 2).marked, 0);
  EXPECT_EQ(Contest(parameters, 0).marked, 0);
  EXPECT_EQ(Contest({}, 2).marked, 0);
}

TEST(FqPie, AtTheLimitTheArrivingPacketIsDropped) {
  FqPie fq({}, Packets(5));
  for (uint16_t flow = 1; flow <= 7; ++flow) fq.Put(flow, 1000, At(0));
  EXPECT_EQ(fq.drops.numbers(), (std::vector<uint64_t>{6, 7}));
  for (const auto& dropped : fq.drops.all) EXPECT_EQ(dropped.cause, Fate::kQueueFull);
  EXPECT_EQ(fq.queue.packets(), 5U);
}

// With one flow, FQ-PIE makes the same decision as PIE for each packet.
TEST(FqPie, OneFlowIsPie) {
  FqPie fq;
  PieQueue pie({}, InMemory(Packets(10240), fq.frames, {3, "queue"}));
  Drops drops;
  for (int64_t ms = 0; ms < 20000; ++ms) {
    fq.Put(1, 1000, AtMs(ms));
    pie.Enqueue(MakePacket(fq.flows.size(), 1000), AtMs(ms), drops);
    if (ms < 40 || ms % 5 == 0) continue;
    const auto one = fq.queue.Dequeue(AtMs(ms), fq.drops), two = pie.Dequeue(AtMs(ms), drops);
    ASSERT_TRUE(one && two);
    ASSERT_EQ(one->number, two->number);
  }
  EXPECT_GT(drops.all.size(), 1000U);
  EXPECT_EQ(fq.drops.all, drops.all);
}

}  // namespace
}  // namespace viaduct::path
