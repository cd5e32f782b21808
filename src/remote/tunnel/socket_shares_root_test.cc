// Tests the share of a socket's buffer that a hub's clients get while no thread reads, and whether
// each loss is counted for its client. Needs root (eBPF).
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/udp.h>
#include <poll.h>
#include <unistd.h>

#include <tuple>

#include "remote/tunnel/client_hub.h"

namespace viaduct::tunnel {
namespace {

using wire::IpAddress;
using wire::VxlanHeader;

constexpr size_t kFrame = 142;

// Sends datagrams that the kernel gets as one message and does not divide on the loopback device.
// Each datagram has the VNI at its index in the list.
class Sender {
 public:
  Sender(const std::string& from, const ClientHub& hub, size_t frame = kFrame)
      : size_(VxlanHeader::kSize + frame),
        socket_(::socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0)),
        to_(IpAddress::Parse(from.find(':') != std::string::npos ? "::1" : "127.0.0.1"),
            hub.port()) {
    const Peer own(IpAddress::Parse(from), 0);
    const auto* const address = reinterpret_cast<const sockaddr*>(&own.as_in6());
    EXPECT_EQ(bind(socket_.get(), address, sizeof own.as_in6()), 0);
    const int segment = static_cast<int>(size_);
    EXPECT_EQ(setsockopt(socket_.get(), SOL_UDP, UDP_SEGMENT, &segment, sizeof segment), 0);
  }
  void Send(const std::vector<uint32_t>& vnis, size_t times = 1) const {
    std::vector<std::byte> bytes(vnis.size() * size_);
    for (size_t i = 0; i < vnis.size(); ++i) {
      VxlanHeader{vnis[i]}.Write(std::span(bytes).subspan(i * size_));
    }
    SendBytes(bytes, times);
  }
  void SendBytes(std::span<const std::byte> bytes, size_t times) const {
    const auto* const address = reinterpret_cast<const sockaddr*>(&to_.as_in6());
    for (size_t i = 0; i < times; ++i) {
      ASSERT_EQ(sendto(socket_.get(), bytes.data(), bytes.size(), 0, address, sizeof to_.as_in6()),
                static_cast<ssize_t>(bytes.size()));
    }
  }

 private:
  size_t size_;
  UniqueFd socket_;
  Peer to_;
};

// The parameters: the clients' address, and the number of the hub's threads that read, which start
// at the first Read().
class SocketSharesTest : public testing::TestWithParam<std::tuple<const char*, size_t>> {
 protected:
  static constexpr uint32_t kClients = 50;
  // 80,000 datagrams, of which an eighth fits the buffer.
  static constexpr size_t kMerged = 40, kFlood = 2000;

  SocketSharesTest() : hub_(Nodes(), {.port = 0, .readers = std::get<1>(GetParam())}) {}
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root (eBPF)";
    if (!hub_.why_unshared().empty()) GTEST_SKIP() << hub_.why_unshared();
  }

  static std::string home() { return std::get<0>(GetParam()); }
  static std::vector<RemoteNode> Nodes() {
    std::vector<RemoteNode> nodes;
    for (uint32_t i = 0; i < kClients; ++i) {
      nodes.push_back({.name = fmt::format("n{}", i),
                       .vni = VniOf(i),
                       .max_frame = 2000,
                       .address = IpAddress::Parse(home())});
    }
    return nodes;
  }
  static uint32_t VniOf(uint32_t client) { return 100 + 1000 * client; }

  // Returns the number of datagrams that were read or lost, by the hub's own counts.
  uint64_t AllOfHub() const {
    const HubCounters all = hub_.counters();
    uint64_t sum = all.dropped_socket_full + all.dropped_malformed + all.dropped_unknown_vni;
    for (size_t i = 0; i < kClients; ++i) sum += AllOf(i);
    return sum;
  }
  uint64_t AllOf(size_t client) const {
    return hub_.CountersOf(client).rx_frames + hub_.CountersOf(client).Lost();
  }
  // Returns AllOfHub() plus the number of datagrams that were read and wait.
  uint64_t AllRead() const {
    uint64_t sum = AllOfHub();
    for (size_t i = 0; i < kClients; ++i) sum += hub_.WaitingOf(i);
    return sum;
  }
  // Reads and takes frames until the hub has accounted for `datagrams`.
  void ReadAll(uint64_t datagrams) {
    for (int i = 0; i < 5000 && AllOfHub() < datagrams; ++i) {
      pollfd wait{hub_.fd(), POLLIN, 0};
      poll(&wait, 1, 1);
      for (bool more = true; more;) {
        more = hub_.Read();
        while (hub_.Take(Instant())) {
        }
      }
    }
    EXPECT_EQ(AllOfHub(), datagrams);
  }

  ClientHub hub_;
};

TEST_P(SocketSharesTest, OneThatFloodsTakesNothingFromTheOthers) {
  constexpr size_t kOfEach = 20;
  const Sender sender(home(), hub_);
  const std::vector<uint32_t> merged(kMerged, VniOf(0));
  for (size_t round = 0; round < kOfEach; ++round) {
    sender.Send(merged, kFlood / kOfEach);
    for (uint32_t i = 1; i < kClients; ++i) sender.Send({VniOf(i)});
  }
  ReadAll(kFlood * kMerged + (kClients - 1) * kOfEach);
  for (uint32_t i = 1; i < kClients; ++i) {
    EXPECT_EQ(hub_.CountersOf(i).rx_frames, kOfEach);
    EXPECT_EQ(hub_.CountersOf(i).Lost(), 0u);
  }
  EXPECT_EQ(AllOf(0), kFlood * kMerged);
  EXPECT_GT(hub_.CountersOf(0).rx_dropped_socket_full, kFlood * kMerged / 2);
  EXPECT_EQ(hub_.counters().dropped_socket_full, 0u);
}

TEST_P(SocketSharesTest, EachDatagramOfAMessageIsCountedToItsOwnClient) {
  const Sender sender(home(), hub_);
  std::vector<uint32_t> mixed;
  for (uint32_t i = 0; i < kMerged; ++i) mixed.push_back(VniOf(i % 3));
  sender.Send(mixed, kFlood);
  ReadAll(kFlood * kMerged);
  for (uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(AllOf(i), kFlood * (i == 0 ? 14 : 13));
    EXPECT_GT(hub_.CountersOf(i).rx_dropped_socket_full, 0u);
  }
  EXPECT_EQ(hub_.counters().dropped_socket_full, 0u);
}

// Datagrams from an address that has not claimed the node neither take the client's share nor are
// counted for the client.
TEST_P(SocketSharesTest, ForeignersFillTheirOwnShare) {
  const bool is_ipv4 = home() == std::string("127.0.0.1");
  hub_.Claim(1, IpAddress::Parse(is_ipv4 ? "127.0.0.2" : "fd00::2"));
  const Sender sender(home(), hub_);
  sender.Send(std::vector<uint32_t>(kMerged, VniOf(1)), kFlood);
  sender.Send(std::vector<uint32_t>(kMerged, 77), kFlood);
  sender.SendBytes(std::vector<std::byte>(kMerged * (VxlanHeader::kSize + kFrame)), kFlood);
  uint64_t sent = 3 * kFlood * kMerged;
  if (is_ipv4) {
    Sender("127.0.0.2", hub_).Send({VniOf(1), VniOf(1), VniOf(1)});
    sent += 3;
  }
  ReadAll(sent);
  EXPECT_EQ(hub_.CountersOf(1).rx_frames, is_ipv4 ? 3u : 0u);
  EXPECT_EQ(hub_.CountersOf(1).rx_dropped_spoofed, kFlood * kMerged);
  EXPECT_EQ(hub_.counters().dropped_unknown_vni, kFlood * kMerged);
  EXPECT_EQ(hub_.counters().dropped_malformed, kFlood * kMerged);
  EXPECT_EQ(hub_.counters().dropped_socket_full, 0u);
}

// Datagrams of many times the buffer's size are sent and read: the space of read datagrams must be
// freed.
TEST_P(SocketSharesTest, RoomIsFreeAgainOnceItWasRead) {
  const Sender sender(home(), hub_);
  constexpr size_t kRounds = 300, kBurst = 60;
  for (size_t round = 1; round <= kRounds; ++round) {
    sender.Send(std::vector<uint32_t>(kMerged, VniOf(2)), kBurst);
    // The node's client changes while datagrams wait in the socket.
    if (round % 3 == 0) hub_.Release(2);
    if (round % 3 == 1) hub_.Claim(2, IpAddress::Parse(home()));
    ReadAll(round * kBurst * kMerged);
  }
  EXPECT_EQ(hub_.CountersOf(2).rx_dropped_socket_full, 0u);
  EXPECT_EQ(hub_.counters().dropped_socket_full, 0u);
}

// Many clients flood at once with frames that each take more memory than their cost: the buffer is
// full at first, although the clients keep to their shares. Then the shares must become smaller.
TEST_P(SocketSharesTest, SharesFitTheKernelsMemoryInTheEnd) {
  constexpr size_t kEach = 40000;
  const Sender sender(home(), hub_, 1100);
  uint64_t sent = 0, before = 0;
  for (int round = 0; round < 40; ++round) {
    for (size_t i = 0; i < kEach; ++i) sender.Send({VniOf(static_cast<uint32_t>(i) % 40)});
    ReadAll(sent += kEach);
    if (hub_.counters().dropped_socket_full == before && round > 0) break;
    before = hub_.counters().dropped_socket_full;
  }
  EXPECT_EQ(hub_.counters().dropped_socket_full, before);
  sender.Send(std::vector<uint32_t>(10, VniOf(49)), 10);
  ReadAll(sent + 100);
  EXPECT_EQ(hub_.CountersOf(49).rx_frames, 100u);
}

// No frames are taken: when a client's share of waiting frames is full, further datagrams of the
// client are refused unread, until there is space again. There must always be space for a second
// client.
TEST_P(SocketSharesTest, WhatHasNoRoomToWaitIsNotRead) {
  const Sender sender(home(), hub_);
  constexpr size_t kRounds = 400, kBurst = 20;
  uint64_t sent = 0;
  const auto read = [&] {
    for (int i = 0; i < 5000 && AllRead() < sent; ++i) {
      pollfd wait{hub_.fd(), POLLIN, 0};
      poll(&wait, 1, 1);
      while (hub_.Read()) {
      }
    }
    ASSERT_EQ(AllRead(), sent);
  };
  for (size_t round = 0; round < kRounds; ++round) {
    sender.Send(std::vector<uint32_t>(kMerged, VniOf(0)), kBurst / 2);
    sender.Send(std::vector<uint32_t>(1, VniOf(0)), kBurst);
    sender.Send({VniOf(1)});
    sent += (kMerged / 2 + 1) * kBurst + 1;
    read();
  }
  EXPECT_EQ(hub_.CountersOf(1).Lost(), 0u);
  const uint64_t flood = sent - kRounds;
  EXPECT_GT(hub_.CountersOf(0).rx_dropped_socket_full, flood * 9 / 10);
  EXPECT_LT(hub_.datagrams(), sent / 10);
  while (hub_.Take(Instant())) {
  }
  EXPECT_EQ(hub_.CountersOf(1).rx_frames, kRounds);
  EXPECT_EQ(AllOf(0), flood);
  // The waiting frames have been taken, so that the client may send again.
  const uint64_t before = hub_.CountersOf(0).Lost();
  sender.Send(std::vector<uint32_t>(kMerged, VniOf(0)), kBurst);
  ReadAll(sent + kMerged * kBurst);
  EXPECT_EQ(hub_.CountersOf(0).Lost(), before);
}

INSTANTIATE_TEST_SUITE_P(FamiliesAndReaders, SocketSharesTest,
                         testing::Combine(testing::Values("127.0.0.1", "::1"),
                                          testing::Values(0, 1, 3)));

}  // namespace
}  // namespace viaduct::tunnel
