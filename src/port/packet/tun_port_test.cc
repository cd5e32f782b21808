#include "port/packet/tun_port.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <csignal>
#include <string>
#include <vector>

#include "base/error.h"

namespace viaduct::io {
namespace {

// A pair of sequenced-packet sockets in place of a TUN device: each call reads or writes one
// packet.
struct Device {
  UniqueFd kernel, user;
  Device() {
    int ends[2];
    SystemCall("socketpair", socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends));
    kernel.reset(ends[0]);
    user.reset(ends[1]);
  }
};

std::string PacketText(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST(TunPortTest, ReadsBurstsUntilNothingIsThere) {
  Device device;
  for (int i = 0; i < 100; ++i) {
    const std::string packet = "packet " + std::to_string(i);
    ASSERT_GT(write(device.kernel.get(), packet.data(), packet.size()), 0);
  }
  TunPort port(std::move(device.user));
  std::vector<ReceivedFrame> frames(40);
  int expected = 0;
  for (size_t count = port.Receive(frames); count > 0; count = port.Receive(frames)) {
    EXPECT_LE(count, 40u);
    for (size_t i = 0; i < count; ++i) {
      EXPECT_EQ(PacketText(frames[i].bytes), "packet " + std::to_string(expected++));
    }
  }
  EXPECT_EQ(expected, 100);
  EXPECT_EQ(port.Counters().rx_frames, 100u);
  EXPECT_EQ(port.Counters().rx_bytes, 890u);
}

TEST(TunPortTest, CountsPacketsThatAreTooLong) {
  Device device;
  TunPort port(std::move(device.user), {.max_frame = 10});
  ASSERT_EQ(write(device.kernel.get(), "12345678901", 11), 11);
  ASSERT_EQ(write(device.kernel.get(), "1234567890", 10), 10);
  std::vector<ReceivedFrame> frames(4);
  ASSERT_EQ(port.Receive(frames), 1u);
  EXPECT_EQ(PacketText(frames[0].bytes), "1234567890");
  EXPECT_EQ(port.Counters().rx_dropped_truncated, 1u);
}

TEST(TunPortTest, WritesUntilTheDeviceIsFull) {
  Device device;
  TunPort port(std::move(device.user));
  const std::string packet(1000, 'x');
  const FrameToSend frame = std::as_bytes(std::span(packet));
  const std::vector<FrameToSend> frames(10000, frame);
  const size_t taken = port.Transmit(frames);
  EXPECT_GT(taken, 0u);
  EXPECT_LT(taken, frames.size());
  EXPECT_EQ(port.Counters().tx_frames, taken);
  EXPECT_EQ(port.Counters().tx_bytes, taken * 1000);
  EXPECT_EQ(port.Counters().tx_dropped_error, 0u);
  std::string read_back(2000, '\0');
  for (size_t i = 0; i < taken; ++i) {
    ASSERT_EQ(read(device.kernel.get(), read_back.data(), read_back.size()), 1000);
  }
  EXPECT_EQ(port.Transmit({&frame, 1}), 1u);
}

TEST(TunPortTest, CountsWhatTheDeviceRefuses) {
  Device device;
  TunPort port(std::move(device.user));
  shutdown(port.fd(), SHUT_WR);
  signal(SIGPIPE, SIG_IGN);
  const std::string packet("x");
  const FrameToSend frame = std::as_bytes(std::span(packet));
  const FrameToSend frames[] = {frame, frame};
  EXPECT_EQ(port.Transmit(frames), 2u);
  EXPECT_EQ(port.Counters().tx_dropped_error, 2u);
  EXPECT_EQ(port.Counters().tx_frames, 0u);
}

TEST(TunPortTest, RefusesWhatIsNoDescriptor) { EXPECT_THROW(TunPort(UniqueFd(-1)), SystemError); }

}  // namespace
}  // namespace viaduct::io
