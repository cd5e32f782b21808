// Tests the properties that only DPDK's ports have; port/xdp/conformance_root_test.cc tests the
// properties that all ports have.
#include <arpa/inet.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "port/dpdk/open.h"
#include "port/packet/ring_port.h"
#include "port/test/test_network.h"

namespace viaduct::dpdk {
namespace {

using namespace wire::packet;
using io::AnyPort, io::FrameToSend;

class DpdkTest : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root: makes network namespaces";
    if (!Unavailable().empty()) GTEST_SKIP() << Unavailable();
  }
  static std::unique_ptr<AnyPort> Open(const io::TestNamespace& place, Request request) {
    return place.In([&] { return OpenPort(std::move(request)); });
  }
  static std::string Refusal(const io::TestNamespace& place, Request request) {
    try {
      Open(place, std::move(request));
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
  static std::vector<std::byte> Frame(uint16_t type, size_t bytes = 60) {
    return Build(Ethernet{"02:00:00:00:00:0a", "02:00:00:00:00:0b", type} /
                 Payload{std::string(bytes - 14, 'x')});
  }
  static std::string Describe(const std::vector<std::byte>& frame) {
    return wire::packet::Describe(frame);
  }
};

std::map<int, std::string> Descriptors() {
  std::map<int, std::string> all;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code error;
    const auto target = std::filesystem::read_symlink(entry.path(), error);
    if (!error) all[std::stoi(entry.path().filename())] = target;
  }
  return all;
}

TEST_F(DpdkTest, LeavesTheProcessAsItWas) {
  const io::TestNetwork network(false);
  cpu_set_t before, after;
  sigset_t blocked_before, blocked_after;
  sched_getaffinity(0, sizeof before, &before);
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked_before);
  struct sigaction interrupt_before {
  }, interrupt_after{};
  sigaction(SIGINT, nullptr, &interrupt_before);
  const auto descriptors = Descriptors();
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  const auto port = Open(network.b, {.interface = "b0"});
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  sched_getaffinity(0, sizeof after, &after);
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked_after);
  sigaction(SIGINT, nullptr, &interrupt_after);
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
  EXPECT_EQ(interrupt_after.sa_handler, interrupt_before.sa_handler);
  for (int number = 1; number < 65; ++number) {
    EXPECT_EQ(sigismember(&blocked_after, number), sigismember(&blocked_before, number));
  }
  for (const auto& [fd, target] : Descriptors()) {
    if (descriptors.contains(fd)) continue;
    EXPECT_NE(fcntl(fd, F_GETFD) & FD_CLOEXEC, 0) << target;
  }
  EXPECT_FALSE(std::filesystem::exists("/run/dpdk/rte"));
}

TEST_F(DpdkTest, LeavesTheInterfaceAsItWas) {
  const io::TestNetwork network(true);
  network.b.Run("ip link set b0 promisc on");
  for (int round = 0; round < 2; ++round) {
    const auto port = Open(network.b, {.interface = "b0"});
    network.b.Run("ip -d link show b0 | grep -q 'promiscuity 2'");
    network.b.Run("ip neigh show 10.77.0.1 dev b0 | grep -q PERMANENT");
    network.b.Run("ip -6 neigh show fd00:77::1 dev b0 | grep -q PERMANENT");
  }
  network.b.Run("ip -d link show b0 | grep -q 'promiscuity 1'");
}

// Tests several ports in a process: each receives only the frames of its interface.
TEST_F(DpdkTest, SeveralPortsInOneProcess) {
  const io::TestNetwork network(false);
  const auto a = Open(network.a, {.interface = "a0"});
  const auto b = Open(network.b, {.interface = "b0"});
  for (uint16_t i = 0; i < 300; ++i) {
    const auto type = static_cast<uint16_t>(0x9000 + i);
    EXPECT_EQ(io::SendFrame(*a, Frame(type)), 1u);
    EXPECT_EQ(io::ReceiveDescribed(*b, 1), std::vector{Describe(Frame(type))});
    EXPECT_EQ(io::SendFrame(*b, Frame(type)), 1u);
    EXPECT_EQ(io::ReceiveDescribed(*a, 1), std::vector{Describe(Frame(type))});
  }
  EXPECT_EQ(a->Counters().tx_frames, b->Counters().rx_frames);
  EXPECT_EQ(b->Counters().tx_bytes, a->Counters().rx_bytes);
}

TEST_F(DpdkTest, ReceivesWhatTheFilterMatches) {
  const io::TestNetwork network(false);
  const auto port = Open(network.b, {.interface = "b0", .filter = "ether proto 0x88b5"});
  io::RingPort outside(network.a.PacketSocket(), {.ifindex = network.a_index});
  io::SendFrame(outside, Frame(0x88b6));
  io::SendFrame(outside, Frame(0x88b5));
  EXPECT_EQ(io::ReceiveDescribed(*port, 1), std::vector{Describe(Frame(0x88b5))});
}

TEST_F(DpdkTest, ReceivesNothingThatThisMachineSends) {
  const io::TestNetwork network(true);
  const auto port = Open(network.b, {.interface = "b0"});
  io::RingPort outside(network.a.PacketSocket(), {.ifindex = network.a_index});
  const UniqueFd own = network.b.Socket(AF_INET6, SOCK_DGRAM, 0);
  sockaddr_in6 to{};
  to.sin6_family = AF_INET6;
  to.sin6_port = htons(9);
  ASSERT_EQ(inet_pton(AF_INET6, "fd00:77::1", &to.sin6_addr), 1);
  ASSERT_EQ(sendto(own.get(), "x", 1, 0, reinterpret_cast<sockaddr*>(&to), sizeof to), 1);
  io::SendFrame(outside, Frame(0x88b5));
  // Two frames arrive. The first is an ICMP error from the machine at the peer's end, on which no
  // process listens; the second is the frame of `outside`. The datagram that this machine sent does
  // not arrive.
  const auto got = io::ReceiveDescribed(*port, 2);
  ASSERT_EQ(got.size(), 2u);
  EXPECT_THAT(got[0], testing::HasSubstr("eth 02:00:00:00:00:0a > 02:00:00:00:00:0b"));
  EXPECT_EQ(got[1], Describe(Frame(0x88b5)));
}

// Tests the bytes in flight while a queueing discipline holds the frames that the port has sent.
TEST_F(DpdkTest, KnowsWhatHasNotLeft) {
  const io::TestNetwork network(false);
  network.b.Run("tc qdisc add dev b0 root tbf rate 8bit burst 1600 limit 10000000");
  const auto port = Open(network.b, {.interface = "b0", .qdisc_bypass = false});
  io::RingPort outside(network.a.PacketSocket(), {.ifindex = network.a_index});
  // The first frame is sent at once: the tokens in the bucket (tbf) cover it.
  EXPECT_EQ(io::SendFrame(*port, Frame(0x88b5, 1514)), 1u);
  EXPECT_EQ(port->BytesInFlight(), 0u);
  size_t sent = 0;
  for (const size_t bytes : {100, 1000, 1514, 60, 700}) {
    EXPECT_EQ(io::SendFrame(*port, Frame(0x88b5, bytes)), 1u);
    sent += bytes;
    EXPECT_EQ(port->BytesInFlight(), sent);
  }
  network.b.Run("tc qdisc del dev b0 root");
  EXPECT_EQ(port->BytesInFlight(), 0u);
}

TEST_F(DpdkTest, NeverWaitsForRoom) {
  const io::TestNetwork network(false);
  network.b.Run("tc qdisc add dev b0 root tbf rate 8bit burst 1600 limit 10000000");
  const auto port = Open(network.b, {.interface = "b0", .qdisc_bypass = false, .slots = 64});
  const auto frame = Frame(0x88b5);
  const std::vector<FrameToSend> burst(32, frame);
  size_t taken = 0;
  for (int i = 0; i < 100; ++i) taken += port->Transmit(burst);
  EXPECT_GE(taken, 32u);
  EXPECT_LT(taken, 3200u);
  EXPECT_TRUE(port->Refused().empty());
  constexpr size_t kBucket = 1600;
  EXPECT_LE(port->BytesInFlight(), taken * frame.size());
  EXPECT_GE(port->BytesInFlight() + kBucket, taken * frame.size());
}

TEST_F(DpdkTest, RefusesInOneLineWithTheReason) {
  const io::TestNetwork network(false);
  const auto expect = [&](Request request, const std::string& reason) {
    const std::string said = Refusal(network.b, std::move(request));
    EXPECT_THAT(said, testing::HasSubstr(reason));
    EXPECT_THAT(said, testing::Not(testing::HasSubstr("\n")));
  };
  expect({.interface = "none0"}, "there is no interface none0");
  expect({.interface = "net_af_xdp0,iface=b0"}, "use af_xdp");
  expect({.interface = "net_nothing0,iface=b0"}, "DPDK: cannot open the device net_nothing0");
  expect({.interface = "0000:ff:1f.7"}, "DPDK: cannot open the device 0000:ff:1f.7");
  expect({.interface = "net_tap0,iface=t0", .filter = "tcp"},
         "filters are supported only on kernel interfaces");
  expect({.interface = "b0", .filter = "nonsense"}, "nonsense");
  network.b.Run("ip tuntap add tun0 mode tun; ip link set tun0 up");
  expect({.interface = "tun0"}, "does not carry Ethernet frames");
  const auto first = Open(network.b, {.interface = "b0"});
  expect({.interface = "b0"}, "this process already has a port on this interface");
  EXPECT_EQ(Refusal(network.a, {.interface = "a0"}), "") << "and can be opened afterwards";
}

}  // namespace
}  // namespace viaduct::dpdk
