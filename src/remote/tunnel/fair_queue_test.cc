#include "remote/tunnel/fair_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <vector>

#include "base/random.h"

namespace viaduct::tunnel {
namespace {

std::vector<std::byte> FrameOf(size_t client, size_t number, size_t length = 60) {
  std::vector<std::byte> frame(length, std::byte(client));
  frame[0] = std::byte(number);
  return frame;
}

// Returns the clients of the next `frames` frames, in order.
std::vector<size_t> Serve(FairQueue& queue, size_t frames) {
  std::vector<size_t> clients;
  for (size_t i = 0; i < frames; ++i) {
    const auto frame = queue.Pop();
    if (!frame) break;
    clients.push_back(frame->client);
  }
  return clients;
}

TEST(FairQueueTest, ServesInOrderOfArrivalWhenFewWait) {
  FairQueue queue({.clients = 3, .frames = 1000});
  std::vector<size_t> order;
  for (size_t i = 0; i < FairQueue::kInOrder; ++i) {
    const size_t client = i * i % 3;
    order.push_back(client);
    EXPECT_EQ(queue.Push(client, FrameOf(client, i), Instant::FromNanoseconds(int64_t(i))),
              std::nullopt);
  }
  for (size_t i = 0; i < order.size(); ++i) {
    const auto frame = queue.Pop();
    ASSERT_TRUE(frame);
    EXPECT_EQ(frame->client, order[i]);
    EXPECT_EQ(frame->bytes.size(), 60u);
    EXPECT_EQ(frame->bytes[0], std::byte(i));
    EXPECT_EQ(frame->bytes[1], std::byte(order[i]));
    EXPECT_EQ(frame->received, Instant::FromNanoseconds(int64_t(i)));
  }
  EXPECT_FALSE(queue.Pop());
  EXPECT_TRUE(queue.empty());
}

TEST(FairQueueTest, AFloodTakesNothingFromTheOthers) {
  constexpr size_t kClients = 50;
  FairQueue queue({.clients = kClients, .frames = 1000});
  std::map<size_t, size_t> sent, lost, served;
  // Before the server handles 55 frames, 49 clients send one frame each and the flooding client
  // sends 200.
  for (int round = 0; round < 1000; ++round) {
    for (size_t i = 0; i < 200 + kClients - 1; ++i) {
      const size_t client = i < 200 ? 0 : i - 199;
      ++sent[client];
      if (const auto loser = queue.Push(client, FrameOf(client, i), {})) ++lost[*loser];
    }
    for (const size_t client : Serve(queue, kClients + 5)) ++served[client];
  }
  while (const auto frame = queue.Pop()) ++served[frame->client];
  for (size_t client = 0; client < kClients; ++client) {
    EXPECT_EQ(sent[client], lost[client] + served[client]) << client;
    if (client > 0) {
      EXPECT_EQ(lost[client], 0u) << client;
    }
  }
  EXPECT_GE(served[0], 5500u);
}

TEST(FairQueueTest, SharesBytesNotFrames) {
  FairQueue queue({.clients = 2, .frames = 4000, .max_frame = 1500});
  for (int i = 0; i < 2000; ++i) {
    queue.Push(0, FrameOf(0, 0, 1500), {});
    queue.Push(1, FrameOf(1, 0, 100), {});
  }
  std::map<size_t, size_t> bytes;
  for (int i = 0; i < 1500; ++i) {
    const auto frame = queue.Pop();
    bytes[frame->client] += frame->bytes.size();
  }
  EXPECT_NEAR(double(bytes[0]), double(bytes[1]), double(FairQueue::kQuantum + 1500));
  EXPECT_GT(bytes[0], 100'000u);
}

// RFC 8290, section 4.2: clients that send little are served before clients that wait, but not
// repeatedly.
TEST(FairQueueTest, WhoSendsLittleWaitsForNoFlood) {
  constexpr size_t kFloods = 100, kSparse = 100, kGreedy = 101;
  FairQueue queue({.clients = kFloods + 2, .frames = 6400});
  const auto flood = [&queue] {
    for (size_t client = 0; client < kFloods; ++client) queue.Push(client, FrameOf(client, 0), {});
  };
  for (int i = 0; i < 64; ++i) flood();
  Serve(queue, 1);  // after this call clients are served in turns
  for (int round = 0; round < 50; ++round) {
    queue.Push(kSparse, FrameOf(kSparse, 0), {});
    EXPECT_EQ(Serve(queue, 1), std::vector<size_t>{kSparse}) << round;
    // Each flooding client must get a turn.
    for (size_t i = 0; i < FairQueue::kQuantum / 60 * (kFloods + 1); ++i) {
      queue.Push(i % kFloods, FrameOf(i % kFloods, 0), {});
      queue.Pop();
    }
  }
  // A client that sends a frame whenever its previous frame was served gets one turn, and then
  // waits like all clients.
  size_t served = 0;
  for (size_t i = 0; i < 20 * FairQueue::kQuantum / 60; ++i) {
    if (queue.SizeOf(kGreedy) == 0) queue.Push(kGreedy, FrameOf(kGreedy, 0), {});
    queue.Push(i % kFloods, FrameOf(i % kFloods, 0), {});
    if (queue.Pop()->client == kGreedy) ++served;
  }
  EXPECT_GT(served, 0u);
  EXPECT_LE(served, FairQueue::kQuantum / 60 + 1);
}

TEST(FairQueueTest, OneClientHasAllTheMemoryWhileItIsAlone) {
  FairQueue queue({.clients = 10, .frames = 500});
  for (int i = 0; i < 500; ++i) EXPECT_EQ(queue.Push(7, FrameOf(7, 0), {}), std::nullopt);
  EXPECT_EQ(queue.Push(7, FrameOf(7, 0), {}), 7u);
  // Client 7 loses a frame: it has more than its share, which is half of the memory now.
  EXPECT_EQ(queue.Push(3, FrameOf(3, 0), {}), 7u);
  EXPECT_EQ(queue.SizeOf(3), 1u);
  EXPECT_EQ(queue.SizeOf(7), 499u);
  EXPECT_EQ(queue.size(), 500u);
}

// Compares the queue with a model that has a plain list of frames for each client.
TEST(FairQueueTest, LosesNothingUncountedAndKeepsEachClientsOrder) {
  RandomStream random(7, "frames");
  for (int run = 0; run < 20; ++run) {
    constexpr size_t kClients = 8;
    FairQueue queue({.clients = kClients, .frames = 300, .max_frame = 200});
    std::vector<std::deque<std::vector<std::byte>>> model(kClients);
    for (int step = 0; step < 5000; ++step) {
      if (random.Below(100) < 55) {
        const size_t client = random.Below(100) < 60 ? 0 : random.Below(kClients);
        const auto frame = FrameOf(client, step & 255, 20 + random.Below(180));
        const auto loser = queue.Push(client, frame, {});
        if (loser == client) continue;  // the frame was not taken
        if (loser) model[*loser].pop_front();
        model[client].push_back(frame);
      } else if (const auto frame = queue.Pop()) {
        auto& expected = model[frame->client];
        ASSERT_FALSE(expected.empty());
        EXPECT_TRUE(std::ranges::equal(frame->bytes, expected.front()));
        expected.pop_front();
      }
      size_t size = 0;
      for (size_t i = 0; i < kClients; ++i) {
        ASSERT_EQ(queue.SizeOf(i), model[i].size());
        size += model[i].size();
      }
      ASSERT_EQ(queue.size(), size);
    }
  }
}

}  // namespace
}  // namespace viaduct::tunnel
