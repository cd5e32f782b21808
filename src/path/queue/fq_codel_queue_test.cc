#include "path/queue/fq_codel_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/random.h"
#include "base/wire/test/packet_builder.h"
#include "path/packet/flow_hash.h"
#include "path/queue/test_queues.h"

namespace viaduct::path {
namespace {

using namespace test;
using testing::Each;
using testing::ElementsAre;
namespace p = wire::packet;

const RandomStream kRandom(3, "queue");

// A discipline under test; the packets of flow n have UDP source port n.
struct FqCodel {
  explicit FqCodel(QueueSize limit = Packets(10240), FqCodelParameters parameters = {})
      : queue(parameters, InMemory(limit, frames, kRandom)) {}
  FrameHandle FrameOf(uint16_t flow, uint8_t tos = 0) {
    return frames.Add(p::Build(p::Ethernet{} / p::Ipv4{.tos = tos} / p::Udp{.source = flow}));
  }
  // Enqueues a packet of this flow and returns the packet's number.
  uint64_t Put(uint16_t flow, uint32_t bytes, Instant now = At(0)) {
    flows.push_back(flow);
    queue.Enqueue(MakePacket(flows.size(), bytes, FrameOf(flow)), now, drops);
    return flows.size();
  }
  // Returns the flow of the packet sent next; -1: no packet.
  int Take(Instant now = At(0)) {
    const auto packet = queue.Dequeue(now, drops);
    if (!packet) return -1;
    if (packet->number <= last[flows[packet->number - 1]]) ADD_FAILURE() << "out of order";
    last[flows[packet->number - 1]] = packet->number;
    return flows[packet->number - 1];
  }
  std::vector<int> TakeAll() {
    std::vector<int> all;
    for (int flow = Take(); flow >= 0; flow = Take()) all.push_back(flow);
    return all;
  }
  Frames frames;
  Drops drops;
  std::vector<uint16_t> flows;
  std::map<uint16_t, uint64_t> last;
  FqCodelQueue queue;
};

// The flows that the tests use (1 to 12) are in separate queues.
TEST(FqCodel, TheFlowsOfTheseTestsDoNotCollide) {
  FqCodel fq;
  std::set<uint64_t> queues;
  for (uint16_t flow = 1; flow <= 12; ++flow) {
    queues.insert(HashFlow(fq.frames.Bytes(fq.FrameOf(flow)), RandomStream(kRandom).Next()) >> 54);
  }
  EXPECT_EQ(queues.size(), 12u);
}

TEST(FqCodel, ServesFlowsInTurn) {
  FqCodel fq;
  for (int i = 0; i < 3; ++i) fq.Put(1, 1514);
  for (int i = 0; i < 3; ++i) fq.Put(2, 1514);
  EXPECT_EQ(fq.queue.packets(), 6u);
  EXPECT_EQ(fq.queue.bytes(), 6u * 1514);
  EXPECT_THAT(fq.TakeAll(), ElementsAre(1, 2, 1, 2, 1, 2));
  EXPECT_EQ(fq.queue.bytes(), 0u);
}

// RFC 8290 section 4.2, computed by hand: the quantum is 1514 bytes; flow 1 sends 2 packets of 1000
// bytes in the first round (1514 -> 514 -> -486), 2 packets in the second round, with 1028 credits
// (28 -> -972), and 1 packet in the third round, with 542 credits.
TEST(FqCodel, CreditsAreCarriedFromRoundToRound) {
  FqCodel fq;
  for (int i = 0; i < 6; ++i) fq.Put(1, 1000);
  for (int i = 0; i < 4; ++i) fq.Put(2, 1514);
  EXPECT_THAT(fq.TakeAll(), ElementsAre(1, 1, 2, 1, 1, 2, 1, 2, 1, 2));
}

TEST(FqCodel, SharesBytesNotPackets) {
  FqCodel fq;
  for (int i = 0; i < 1000; ++i) fq.Put(1, 100);
  for (int i = 0; i < 200; ++i) fq.Put(2, 1400);
  std::map<int, int64_t> bytes;
  while (bytes[1] < 90000) {
    const int flow = fq.Take();
    bytes[flow] += flow == 1 ? 100 : 1400;
    ASSERT_LE(std::abs(bytes[1] - bytes[2]), 2 * 1514);
  }
}

// RFC 8290 section 3: a flow that does not build a queue is served before flows that do.
TEST(FqCodel, ASparseFlowGoesFirst) {
  FqCodel fq;
  for (int i = 0; i < 100; ++i) fq.Put(1, 1514);
  for (int i = 0; i < 100; ++i) fq.Put(2, 1514);
  for (int i = 0; i < 10; ++i) fq.Take();
  for (int round = 0; round < 20; ++round) {
    fq.Put(7, 200);
    EXPECT_EQ(fq.Take(), 7) << round;
    // To avoid starvation, the flow's queue must pass through the list of old queues, here those of
    // two flows, before it is new again.
    for (int i = 0; i < 4; ++i) EXPECT_NE(fq.Take(), 7);
  }
}

TEST(FqCodel, AFlowThatComesBackBeforeItsTurnIsNoLongerNew) {
  FqCodel fq;
  for (int i = 0; i < 9; ++i) fq.Put(1, 1514);
  for (int i = 0; i < 9; ++i) fq.Put(2, 1514);
  for (int i = 0; i < 4; ++i) fq.Take();
  fq.Put(7, 1514);
  EXPECT_EQ(fq.Take(), 7);  // credits 0: the flow moves to the end of the old queues
  fq.Put(7, 1514);
  const std::vector<int> next = {fq.Take(), fq.Take(), fq.Take()};
  EXPECT_THAT(next, ElementsAre(1, 7, 2));
}

// RFC 8290 section 4.1: packets are dropped from the head of the queue with the most bytes, at most
// half of its bytes and at most 64 packets.
TEST(FqCodel, AboveTheLimitTheFattestFlowPays) {
  FqCodel fq(Packets(100));
  for (int i = 0; i < 10; ++i) fq.Put(1, 1000);
  for (int i = 0; i < 90; ++i) fq.Put(2, 100);
  EXPECT_TRUE(fq.drops.all.empty());
  fq.Put(3, 60);
  // Flow 1 has 10,000 bytes, flow 2 9,000.
  EXPECT_THAT(fq.drops.numbers(), ElementsAre(1, 2, 3, 4, 5));
  EXPECT_EQ(fq.drops.all[0].cause, Fate::kQueueFull);
  EXPECT_EQ(fq.queue.packets(), 96u);
}

TEST(FqCodel, ABatchIs64PacketsAtMost) {
  FqCodel fq(Packets(1000));
  for (int i = 0; i < 1001; ++i) fq.Put(1, 100);
  EXPECT_EQ(fq.drops.all.size(), 64u);
  EXPECT_EQ(fq.drops.all[63].number, 64u);
}

// Each flow has a separate CoDel: only packets of the flow that builds a queue are dropped.
TEST(FqCodel, CodelIsPerFlow) {
  FqCodel fq;
  for (int64_t us = 0; us < 2000000; us += 1000) {
    fq.Put(1, 1514, At(us * 1000));  // twice the rate of the link
    fq.Put(1, 1514, At(us * 1000));
    if (us % 10000 == 0) fq.Put(2, 100, At(us * 1000));
    fq.Take(At(us * 1000));
  }
  std::set<int> dropped;
  for (const auto& one : fq.drops.all) {
    if (one.cause == Fate::kAqm) dropped.insert(fq.flows[one.number - 1]);
  }
  EXPECT_THAT(dropped, ElementsAre(1));
}

TEST(FqCodel, MarksByDefault) {
  FqCodel fq;
  const FrameHandle frame = fq.FrameOf(1, 2);
  for (uint64_t i = 1; i <= 100; ++i) fq.queue.Enqueue(MakePacket(i, 1000, frame), At(0), fq.drops);
  EXPECT_FALSE(fq.queue.Dequeue(AtMs(5), fq.drops)->marked);
  EXPECT_TRUE(fq.queue.Dequeue(AtMs(105), fq.drops)->marked);
  EXPECT_TRUE(fq.drops.all.empty());
}

TEST(FqCodel, OneQueueIsCodel) {
  FqCodelParameters parameters;
  parameters.flows = 1;
  FqCodel fq(Packets(10), parameters);
  for (uint16_t flow = 1; flow <= 5; ++flow) fq.Put(flow, 1000);
  EXPECT_THAT(fq.TakeAll(), ElementsAre(1, 2, 3, 4, 5));
}

// Computes Jain's fairness index of the bytes that each of 50 greedy flows gets in a second of 100
// Mbit/s.
TEST(FqCodel, IsFairAmongManyFlows) {
  FqCodelParameters parameters;
  parameters.flows = 65536;  // few collisions: two flows in one queue share its bytes
  FqCodel fq(Packets(10240), parameters);
  RandomStream random(5, "sizes");
  for (int i = 0; i < 10000; ++i) {
    const auto flow = static_cast<uint16_t>(100 + random.Below(50));
    fq.Put(flow, 500 + static_cast<uint32_t>(flow % 7) * 100);
  }
  std::map<int, double> bytes;
  for (int i = 0; i < 3000; ++i) {
    const int flow = fq.Take();
    bytes[flow] += 500 + flow % 7 * 100;
  }
  double sum = 0, squares = 0;
  for (const auto& [flow, n] : bytes) sum += n, squares += n * n;
  EXPECT_EQ(bytes.size(), 50u);
  EXPECT_GT(sum * sum / (50 * squares), 0.99);
}

}  // namespace
}  // namespace viaduct::path
