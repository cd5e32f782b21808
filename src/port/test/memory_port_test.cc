#include "port/test/memory_port.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <string>
#include <vector>

namespace viaduct::io {
namespace {

bool IsReadable(int fd) {
  pollfd entry{fd, POLLIN, 0};
  return poll(&entry, 1, 0) == 1;
}

std::vector<std::byte> Bytes(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

size_t Send(MemoryPort& port, const std::vector<std::byte>& frame) {
  const FrameToSend one(frame);
  return port.Transmit({&one, 1});
}

TEST(MemoryPortTest, CarriesFramesBothWays) {
  auto [a, b] = MemoryPort::MakePair();
  const auto one = Bytes("one"), two = Bytes("two"), back = Bytes("back");
  const FrameToSend frames[] = {one, two};
  EXPECT_EQ(a.Transmit(frames), 2u);
  EXPECT_EQ(Send(b, back), 1u);
  std::vector<ReceivedFrame> received(4);
  ASSERT_EQ(b.Receive(received), 2u);
  EXPECT_TRUE(std::ranges::equal(received[0].bytes, one));
  EXPECT_TRUE(std::ranges::equal(received[1].bytes, two));
  ASSERT_EQ(a.Receive(received), 1u);
  EXPECT_TRUE(std::ranges::equal(received[0].bytes, back));
  EXPECT_EQ(a.Counters().tx_frames, 2u);
  EXPECT_EQ(a.Counters().tx_bytes, 6u);
  EXPECT_EQ(a.Counters().rx_frames, 1u);
  EXPECT_EQ(b.Counters().rx_bytes, 6u);
}

TEST(MemoryPortTest, AFullQueueIsBackPressureUntilFramesAreGivenBack) {
  auto [a, b] = MemoryPort::MakePair(2);
  const auto x = Bytes("x");
  const FrameToSend frames[] = {x, x, x};
  EXPECT_EQ(a.Transmit(frames), 2u);
  std::vector<ReceivedFrame> received(1);
  ASSERT_EQ(b.Receive(received), 1u);
  EXPECT_EQ(Send(a, x), 0u) << "the lent frame's memory was taken";
  ASSERT_EQ(b.Receive(received), 1u);
  EXPECT_EQ(Send(a, x), 1u);
  EXPECT_EQ(a.Counters().tx_frames, 3u);
}

TEST(MemoryPortTest, IsReadableWhileReceiveWouldReturnSomething) {
  auto [a, b] = MemoryPort::MakePair();
  EXPECT_FALSE(IsReadable(b.fd()));
  const auto x = Bytes("x");
  Send(a, x);
  Send(a, x);
  EXPECT_TRUE(IsReadable(b.fd()));
  EXPECT_FALSE(IsReadable(a.fd()));
  std::vector<ReceivedFrame> received(1);
  b.Receive(received);
  EXPECT_TRUE(IsReadable(b.fd()));
  b.Receive(received);
  EXPECT_FALSE(IsReadable(b.fd()));
  EXPECT_EQ(b.Receive(received), 0u);
}

TEST(MemoryPortTest, CountsFramesThatAreTooLong) {
  auto [a, b] = MemoryPort::MakePair(4, 10);
  EXPECT_EQ(Send(a, Bytes(std::string(11, 'x'))), 1u);
  EXPECT_EQ(Send(a, Bytes(std::string(10, 'x'))), 1u);
  EXPECT_EQ(a.Counters().tx_dropped_error, 1u);
  EXPECT_EQ(a.Counters().tx_frames, 1u);
}

TEST(MemoryPortTest, MetadataGoesWithOneFrame) {
  auto [a, b] = MemoryPort::MakePair();
  ReceivedFrame metadata;
  metadata.received = Instant::FromNanoseconds(7);
  metadata.checksum = Checksum::kPartial;
  metadata.gso_size = 1000;
  a.SetNextMetadata(metadata);
  Send(a, Bytes("x"));
  Send(a, Bytes("y"));
  std::vector<ReceivedFrame> received(2);
  ASSERT_EQ(b.Receive(received), 2u);
  EXPECT_EQ(received[0].received, Instant::FromNanoseconds(7));
  EXPECT_EQ(received[0].checksum, Checksum::kPartial);
  EXPECT_EQ(received[0].gso_size, 1000);
  EXPECT_EQ(received[1].gso_size, 0);
}

TEST(AnyPortTest, HoldsAnyPort) {
  auto [a, b] = MemoryPort::MakePair();
  const std::unique_ptr<AnyPort> any = Hold(std::move(a));
  const auto x = Bytes("x");
  const FrameToSend frame(x);
  EXPECT_EQ(any->Transmit({&frame, 1}), 1u);
  EXPECT_TRUE(IsReadable(b.fd()));
  EXPECT_EQ(any->Counters().tx_frames, 1u);
  std::vector<ReceivedFrame> received(1);
  EXPECT_EQ(any->Receive(received), 0u);
  EXPECT_GE(any->fd(), 0);
}

}  // namespace
}  // namespace viaduct::io
