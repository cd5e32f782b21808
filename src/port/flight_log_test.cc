#include "port/flight_log.h"

#include <gtest/gtest.h>

namespace viaduct::io {
namespace {

// The memory of a frame, as observed on Linux 6.18, x86-64, at a socket whose interface has a slow
// queueing discipline.
constexpr size_t kSmallMemory = 832;    // for frames up to 240 bytes
constexpr size_t kMiddleMemory = 1280;  // for frames up to 688 bytes
constexpr size_t kLargeMemory = 2304;   // for frames up to 1514 bytes

TEST(FlightLogTest, TakesOffTheOldestFramesFirst) {
  FlightLog log(212992);
  log.Add(1514);
  log.Add(60);
  log.Add(600);
  EXPECT_EQ(log.Update(kLargeMemory + kSmallMemory + kMiddleMemory), 2174u);
  EXPECT_EQ(log.Update(kSmallMemory + kMiddleMemory), 660u);
  EXPECT_EQ(log.Update(kMiddleMemory), 600u);
  EXPECT_EQ(log.Update(0), 0u);
}

TEST(FlightLogTest, NothingIsInFlightWhereNoMemoryIsUsed) {
  FlightLog log(212992);
  for (int i = 0; i < 10; ++i) log.Add(1000);
  EXPECT_EQ(log.Update(0), 0u);
  log.Add(1000);
  EXPECT_EQ(log.Update(kLargeMemory), 1000u);
}

TEST(FlightLogTest, LearnsTheMemoryOfOtherMachines) {
  FlightLog log(212992);
  log.Add(1400);
  EXPECT_EQ(log.Update(4352), 1400u);  // the memory on an interface that needs more headroom
  log.Add(1400);
  log.Add(1400);
  EXPECT_EQ(log.Update(3 * 4352), 4200u);
  EXPECT_EQ(log.Update(2 * 4352), 2800u);
  EXPECT_EQ(log.Update(4352), 1400u);
  EXPECT_EQ(log.Update(0), 0u);
}

TEST(FlightLogTest, DoesNotLearnFromSeveralFrames) {
  FlightLog log(212992);
  log.Add(1400);
  log.Add(60);
  EXPECT_EQ(log.Update(kSmallMemory), 60u);
  log.Add(60);
  EXPECT_EQ(log.Update(2 * kSmallMemory), 120u);
}

// Tests a socket with a ring, for which each byte of a frame counts: a frame's buffer has only the
// headers.
TEST(FlightLogTest, KnowsFramesOfARingToTheByte) {
  constexpr size_t kOverhead = 576 + 256 - 14;
  FlightLog log(212992, FlightLog::Source::kRing);
  log.Add(100);
  EXPECT_EQ(log.Update(100 + kOverhead + 32), 100u);  // an interface that needs more headroom
  log.Add(60);
  log.Add(1514);
  EXPECT_EQ(log.Update(100 + 60 + 1514 + 3 * (kOverhead + 32)), 1674u);
  EXPECT_EQ(log.Update(60 + 1514 + 2 * (kOverhead + 32)), 1574u);
  EXPECT_EQ(log.Update(1514 + kOverhead + 32), 1514u);
  EXPECT_EQ(log.Update(0), 0u);
}

TEST(FlightLogTest, ForgetsWhatNoBufferCanHold) {
  FlightLog log(1024);
  for (int i = 0; i < 100000; ++i) log.Add(100);
  EXPECT_LE(log.Update(SIZE_MAX), 100u * 128);
  EXPECT_EQ(log.Update(0), 0u);
}

}  // namespace
}  // namespace viaduct::io
