#include "path/queue/token_bucket.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "path/queue/test_queues.h"

namespace viaduct::path {
namespace {

using test::At;
using test::AtMs;

// Returns a bucket with a rate of 1000 bytes per millisecond and a burst of 3000 bytes.
TokenBucket Bucket() { return TokenBucket(8000000, 3000); }

TEST(TokenBucket, ABurstLeavesAtOnceTheRestAtTheRate) {
  TokenBucket bucket = Bucket();
  bucket.Begin(AtMs(10));
  Instant at = AtMs(10);
  const int64_t expected[] = {10, 10, 10, 11, 12};
  for (const int64_t ms : expected) {
    at = bucket.Send(at, 1000);
    EXPECT_EQ(at, AtMs(ms));
  }
}

TEST(TokenBucket, FillsWhileIdleUpToTheBurst) {
  TokenBucket bucket = Bucket();
  bucket.Begin(AtMs(0));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(bucket.Send(AtMs(0), 1000), AtMs(0));
  EXPECT_EQ(bucket.Send(At(1500000), 1000), At(1500000));  // the bucket held 1500 bytes
  EXPECT_EQ(bucket.Send(At(1500000), 1000), AtMs(2));      // the bucket held 500 bytes
  for (int i = 0; i < 3; ++i) EXPECT_EQ(bucket.Send(AtMs(1000), 1000), AtMs(1000));
  EXPECT_EQ(bucket.Send(AtMs(1000), 1000), AtMs(1001));
}

TEST(TokenBucket, AFrameAboveTheBurstWaitsForWhatItLacks) {
  TokenBucket bucket = Bucket();
  bucket.Begin(AtMs(0));
  EXPECT_EQ(bucket.Send(AtMs(0), 5000), AtMs(2));
  EXPECT_EQ(bucket.Send(AtMs(2), 5000), AtMs(7));
}

TEST(TokenBucket, OverheadTakesTokens) {
  TokenBucket bucket(8000000, 3000, FrameOverhead{500});
  bucket.Begin(AtMs(0));
  EXPECT_EQ(bucket.Send(AtMs(0), 1000), AtMs(0));
  EXPECT_EQ(bucket.Send(AtMs(0), 1000), AtMs(0));
  EXPECT_EQ(bucket.Send(AtMs(0), 1000), At(1500000));
}

TEST(TokenBucket, LongRunRateIsExact) {
  for (const int64_t rate : {1000000LL, 10000000LL, 100000000LL, 1000000000LL, 999999937LL}) {
    TokenBucket bucket(rate, 10000);
    bucket.Begin(At(0));
    RandomStream random(1, "sizes");
    Instant at = At(0);
    __int128 bits = -80000;  // the burst of 80,000 bits takes no time
    for (int i = 0; i < 100000; ++i) {
      const auto bytes = static_cast<uint32_t>(60 + random.Below(1455));
      at = bucket.Send(at, bytes);
      bits += bytes * 8;
    }
    EXPECT_EQ(at.nanoseconds(), static_cast<int64_t>((bits * 1000000000 + rate - 1) / rate));
  }
}

// In every time interval that begins with a packet, the bucket sends at most the burst plus the
// rate's bytes.
TEST(TokenBucket, NeverSendsMoreThanBurstAndRate) {
  const int64_t rate = 3000017, burst = 7000;
  TokenBucket bucket(rate, burst);
  bucket.Begin(At(0));
  RandomStream random(7, "bucket");
  struct Sent {
    int64_t at, before;  // `before`: bytes sent before instant `at`
  };
  std::vector<Sent> all;
  Instant now = At(0);
  int64_t total = 0;
  for (int i = 0; i < 2000; ++i) {
    if (random.Chance(0.1))
      now += Duration::Nanoseconds(static_cast<int64_t>(random.Below(50000000)));
    const auto bytes = static_cast<uint32_t>(60 + random.Below(1455));
    now = bucket.Send(now, bytes);
    all.push_back({now.nanoseconds(), total});
    total += bytes;
    for (const Sent& from : all) {
      const __int128 allowed = static_cast<__int128>(now.nanoseconds() - from.at) * rate;
      ASSERT_LE(static_cast<__int128>(total - from.before - burst) * 8000000000, allowed);
    }
  }
}

}  // namespace
}  // namespace viaduct::path
