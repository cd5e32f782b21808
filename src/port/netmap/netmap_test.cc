// Tests the netmap port with a FakeNetmap, which imitates the kernel's side of the rings in memory:
// machines that test Viaduct do not have netmap's kernel module.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "port/netmap/open.h"
#include "port/netmap/port.h"
#include "port/netmap/test/fake_netmap.h"

namespace viaduct::netmap {
namespace {

using Bytes = std::vector<std::byte>;

Bytes Frame(uint8_t number, size_t bytes = 60) {
  Bytes frame(bytes, std::byte{number});
  if (bytes >= 14) frame[12] = std::byte{0x88}, frame[13] = std::byte{0xb5};
  return frame;
}

std::vector<Bytes> Receive(Port& port, size_t burst = 64) {
  std::vector<io::ReceivedFrame> frames(burst);
  const size_t count = port.Receive(frames);
  std::vector<Bytes> got;
  for (size_t i = 0; i < count; ++i)
    got.emplace_back(frames[i].bytes.begin(), frames[i].bytes.end());
  return got;
}

size_t Send(Port& port, const std::vector<Bytes>& frames) {
  const std::vector<io::FrameToSend> spans(frames.begin(), frames.end());
  return port.Transmit(spans);
}

TEST(NetmapPort, KeepsOrderOverManyTurnsOfTheRings) {
  FakeNetmap fake({.slots = 8});
  Port port(fake.Register());
  for (int round = 0; round < 50; ++round) {
    std::vector<Bytes> frames;
    for (int i = 0; i < 1 + round % 7; ++i)
      frames.push_back(Frame(static_cast<uint8_t>(round + i)));
    for (const Bytes& frame : frames) fake.Arrive(frame);
    EXPECT_EQ(Receive(port), frames);
    EXPECT_EQ(Send(port, frames), frames.size());
    EXPECT_EQ(fake.TakeSent(), frames);
  }
  const io::PortCounters counters = port.Counters();
  EXPECT_EQ(counters.rx_frames, counters.tx_frames);
  EXPECT_EQ(counters.rx_bytes, counters.rx_frames * 60);
  EXPECT_EQ(port.BytesInFlight(), 0u);
}

TEST(NetmapPort, FramesAreLentUntilTheNextCall) {
  FakeNetmap fake({.slots = 4});
  Port port(fake.Register());
  for (uint8_t i = 0; i < 5; ++i) fake.Arrive(Frame(i));
  std::vector<io::ReceivedFrame> frames(2);
  ASSERT_EQ(port.Receive(frames), 2u);
  EXPECT_EQ(frames[0].received, Instant::FromNanoseconds(1000'000'005'000));
  EXPECT_EQ(fake.receive_ring().head, 0u) << "the kernel has not got them back";
  const uint64_t waiting = port.Counters().rx_waiting;
  EXPECT_EQ(waiting, 1u) << "of three the ring has room for one";
  EXPECT_THAT(Receive(port), testing::ElementsAre(Frame(2), Frame(3), Frame(4)));
  EXPECT_EQ(fake.receive_ring().head, 2u);
  EXPECT_TRUE(Receive(port).empty());
  EXPECT_EQ(port.Counters().rx_waiting, 0u);
  EXPECT_EQ(fake.receive_ring().head, fake.receive_ring().tail);
}

TEST(NetmapPort, FullRingIsBackpressureAndCompletionsAreExact) {
  FakeNetmap fake({.slots = 8});
  Port port(fake.Register());
  fake.Stall(true);
  std::vector<Bytes> frames;
  for (uint8_t i = 0; i < 10; ++i) frames.push_back(Frame(i, 100));
  EXPECT_EQ(Send(port, frames), 7u) << "one slot is the kernel's";
  EXPECT_EQ(port.BytesInFlight(), 700u);
  EXPECT_EQ(Send(port, {frames[7]}), 0u);
  EXPECT_TRUE(port.Refused().empty());
  fake.Stall(false);
  EXPECT_EQ(port.BytesInFlight(), 0u);
  EXPECT_EQ(Send(port, {frames[7], frames[8], frames[9]}), 3u);
  EXPECT_EQ(fake.TakeSent(), frames);
  EXPECT_EQ(port.Counters().tx_frames, 10u);
}

TEST(NetmapPort, LongFramesAreInSeveralSlots) {
  FakeNetmap fake({.slots = 16, .mtu = 9000});
  Port port(fake.Register());
  std::vector<Bytes> frames;
  for (const size_t bytes : {60, 2047, 2048, 2049, 4096, 4097, 9014}) {
    frames.push_back(Frame(static_cast<uint8_t>(bytes), bytes));
  }
  EXPECT_EQ(Send(port, frames), frames.size());
  EXPECT_EQ(fake.TakeSent(), frames);
  std::vector<Bytes> got;
  for (const Bytes& frame : frames) fake.Arrive(frame);
  for (int i = 0; i < 4; ++i) std::ranges::copy(Receive(port), std::back_inserter(got));
  EXPECT_EQ(got, frames);
}

TEST(NetmapPort, AFrameWhoseRestIsToComeWaits) {
  FakeNetmap fake({.slots = 8, .mtu = 4000});
  Port port(fake.Register());
  fake.Arrive(Frame(1, 3000));
  EXPECT_EQ(fake.Register().sync(NIOCRXSYNC), 0);
  netmap_ring& ring = fake.receive_ring();
  const uint32_t tail = ring.tail;
  ring.tail = 1;  // passes only the first part of the frame
  EXPECT_TRUE(Receive(port).empty());
  ring.tail = tail;
  EXPECT_THAT(Receive(port), testing::ElementsAre(Frame(1, 3000)));
}

TEST(NetmapPort, RefusesAndCountsWhatItCannotCarry) {
  FakeNetmap fake({});
  Port port(fake.Register());
  EXPECT_EQ(Send(port, {Frame(1), Bytes(13), Frame(2, 1515), Frame(3, 1514)}), 4u);
  EXPECT_THAT(port.Refused(), testing::ElementsAre(1, 2));
  EXPECT_THAT(fake.TakeSent(), testing::ElementsAre(Frame(1), Frame(3, 1514)));
  fake.Arrive(Frame(4, 1523));
  fake.Arrive(Frame(5));
  EXPECT_THAT(Receive(port), testing::ElementsAre(Frame(5)));
  EXPECT_EQ(port.Counters().rx_dropped_truncated, 1u);
  fake.SetUp(false);
  EXPECT_FALSE(port.Up());
  EXPECT_EQ(Send(port, {Frame(6)}), 1u);
  EXPECT_THAT(port.Refused(), testing::ElementsAre(0));
  EXPECT_EQ(port.Counters().tx_dropped_error, 3u);
  EXPECT_EQ(port.Counters().tx_frames, 2u);
}

TEST(NetmapPort, SurvivesTheEndOfItsInterface) {
  FakeNetmap fake({});
  Port port(fake.Register());
  fake.Arrive(Frame(1));
  fake.Remove();
  EXPECT_TRUE(Receive(port).empty());
  EXPECT_EQ(Send(port, {Frame(2)}), 1u);
  EXPECT_EQ(port.Counters().tx_dropped_error, 1u);
  EXPECT_EQ(port.Counters().tx_frames, 0u);
}

TEST(NetmapPort, ServesAllReceiveRings) {
  FakeNetmap fake({.slots = 4, .receive_rings = 3});
  Port port(fake.Register());
  for (uint32_t ring = 0; ring < 3; ++ring) fake.Arrive(Frame(static_cast<uint8_t>(ring)), ring);
  EXPECT_THAT(Receive(port), testing::UnorderedElementsAre(Frame(0), Frame(1), Frame(2)));
}

TEST(NetmapPort, ClosesWithFramesInFlight) {
  FakeNetmap fake({.slots = 8});
  {
    Port port(fake.Register());
    for (uint8_t i = 0; i < 3; ++i) fake.Arrive(Frame(i));
    std::vector<io::ReceivedFrame> lent(2);
    ASSERT_EQ(port.Receive(lent), 2u);
    fake.Stall(true);
    EXPECT_EQ(Send(port, {Frame(8), Frame(9)}), 2u);
    fake.Stall(false);
  }
  EXPECT_THAT(fake.TakeSent(), testing::ElementsAre(Frame(8), Frame(9)));
  EXPECT_EQ(fake.receive_ring().head, 2u) << "what was lent is given back";
}

TEST(NetmapPort, TooFewSlotsForItsMtuAreRefused) {
  FakeNetmap fake({.slots = 4, .mtu = 9000});
  EXPECT_THROW(Port{fake.Register()}, EnvironmentError);
}

TEST(NetmapOpen, SaysInOneLineWhatIsMissing) {
  try {
    OpenPort("lo", nullptr);
    FAIL() << "loopback is no interface for netmap";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("netmap"));
    EXPECT_THAT(error.what(), testing::Not(testing::HasSubstr("\n")));
  }
}

}  // namespace
}  // namespace viaduct::netmap
