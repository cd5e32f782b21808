#include "remote/tunnel/client_hub.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <poll.h>

#include <tuple>

#include "base/error.h"
#include "base/wire/test/packet_builder.h"
#include "remote/tunnel/test_outside.h"

namespace viaduct::tunnel {
namespace {

using wire::IpAddress;
using wire::VxlanHeader;

std::vector<std::byte> FrameNo(int number, size_t length = 60) {
  std::vector<std::byte> frame(length, std::byte(number));
  return frame;
}

// Reads until the hub has read `datagrams` datagrams in total.
void ReadAll(ClientHub& hub, uint64_t datagrams) {
  while (hub.counters().datagrams < datagrams) {
    pollfd wait{hub.fd(), POLLIN, 0};
    ASSERT_EQ(poll(&wait, 1, 5000), 1);
    hub.Read();
  }
}

TEST(VxlanTest, IsWhatRfc7348Draws) {
  std::vector<std::byte> bytes(8);
  VxlanHeader{0x123456}.Write(bytes);
  EXPECT_EQ(bytes, wire::packet::FromHex("0800000012345600"));
  EXPECT_EQ(VxlanHeader::Parse(bytes), VxlanHeader{0x123456});
  // Reserved bits of the header are ignored on receipt.
  EXPECT_EQ(VxlanHeader::Parse(wire::packet::FromHex("ffffffff123456ff")), VxlanHeader{0x123456});
  EXPECT_FALSE(VxlanHeader::Parse(wire::packet::FromHex("f700000012345600")));
  EXPECT_FALSE(VxlanHeader::Parse(wire::packet::FromHex("08000000123456")));
}

// The parameter: the number of threads that read.
class HubTest : public testing::TestWithParam<size_t> {
 protected:
  static ClientHub::Options On(const std::string& address, uint16_t port = 0) {
    return {.address = address, .port = port, .readers = GetParam()};
  }
};

class HubFamilyTest : public testing::TestWithParam<std::tuple<const char*, size_t>> {
 protected:
  static std::string here() { return std::get<0>(GetParam()); }
  static ClientHub::Options On(const std::string& address) {
    return {.address = address, .port = 0, .readers = std::get<1>(GetParam())};
  }
};

// The kernel counts a message of datagrams that it has merged, or never divided, as one lost
// datagram; the hub must count each datagram.
TEST_P(HubTest, EveryDatagramThatFoundTheSocketFullIsCounted) {
  constexpr uint64_t kMessages = 2000, kOfEach = 40, kLength = 900;
  ClientHub::Options options = On("127.0.0.1");
  options.shares = false;
  // The hub's reading threads start at the first Read().
  ClientHub hub({{.name = "a", .vni = 7}}, options);
  const UniqueFd out(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ASSERT_TRUE(out);
  constexpr int kSegment = kLength;
  ASSERT_EQ(setsockopt(out.get(), SOL_UDP, UDP_SEGMENT, &kSegment, sizeof kSegment), 0);
  const sockaddr_in to = Peer(IpAddress::Parse("127.0.0.1"), hub.port()).as_in();
  const std::vector<std::byte> merged(kOfEach * kLength);
  for (uint64_t i = 0; i < kMessages; ++i) {
    ASSERT_EQ(sendto(out.get(), merged.data(), merged.size(), 0,
                     reinterpret_cast<const sockaddr*>(&to), sizeof to),
              ssize_t{kOfEach * kLength});
  }
  const uint64_t lost = hub.counters().dropped_socket_full;
  ReadAll(hub, 1);
  const auto all = [&hub] { return hub.counters().datagrams + hub.counters().dropped_socket_full; };
  for (int i = 0; i < 1000 && all() < kMessages * kOfEach; ++i) {
    pollfd wait{hub.fd(), POLLIN, 0};
    poll(&wait, 1, 10);
    hub.Read();
  }
  EXPECT_EQ(all(), kMessages * kOfEach);
  EXPECT_GT(hub.counters().dropped_socket_full, kOfEach) << "the buffer was too large for this";
  EXPECT_GT(lost, 0u);
}

// The hub divides a merged message at its VXLAN headers, whatever length the first frame gives.
TEST_P(HubTest, AFrameThatLiesAboutItsLengthTakesNothingFromThoseBehindIt) {
  constexpr size_t kDatagram = 208, kCount = 20;
  ClientHub hub({{.name = "a", .vni = 7, .address = IpAddress::Parse("127.0.0.1")}},
                On("127.0.0.1"));
  const UniqueFd out(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ASSERT_TRUE(out);
  constexpr int kSegment = kDatagram;
  ASSERT_EQ(setsockopt(out.get(), SOL_UDP, UDP_SEGMENT, &kSegment, sizeof kSegment), 0);
  const sockaddr_in to = Peer(IpAddress::Parse("127.0.0.1"), hub.port()).as_in();
  uint64_t sent = 0;
  for (const uint16_t length : {186, 400, 1500, 3980, 4146, 60000}) {
    for (const uint8_t protocol : {IPPROTO_UDP, IPPROTO_TCP}) {
      std::vector<std::byte> merged(kCount * kDatagram);
      for (size_t i = 0; i < kCount; ++i)
        VxlanHeader{7}.Write(std::span(merged).subspan(i * kDatagram));
      const std::span<std::byte> ip = std::span(merged).subspan(VxlanHeader::kSize + 14);
      wire::Store16(ip.data() - 2, 0x0800);
      ip[0] = std::byte{0x45};
      wire::Store16(&ip[2], length);
      ip[9] = std::byte{protocol};
      ip[32] = std::byte{0x50};  // the data offset of TCP, without meaning for UDP
      ASSERT_EQ(sendto(out.get(), merged.data(), merged.size(), 0,
                       reinterpret_cast<const sockaddr*>(&to), sizeof to),
                ssize_t{kCount * kDatagram});
      sent += kCount;
    }
  }
  ReadAll(hub, sent);
  uint64_t taken = 0;
  while (const auto arrival = hub.Take({})) {
    EXPECT_EQ(arrival->frame.size(), kDatagram - VxlanHeader::kSize);
    ++taken;
  }
  EXPECT_EQ(hub.counters().datagrams, sent);
  EXPECT_EQ(taken + hub.CountersOf(0).Lost(), sent);
}

TEST_P(HubFamilyTest, CarriesFramesBothWays) {
  Outside client(here());
  ClientHub hub({{.name = "a", .vni = 7}, {.name = "b", .vni = 0xffffff}}, On(here()));
  hub.Claim(1, IpAddress::Parse(here()), client.port());
  for (int i = 0; i < 100; ++i) client.Send(hub, here(), 0xffffff, FrameNo(i, 14 + i));
  ReadAll(hub, 100);
  for (int i = 0; i < 100; ++i) {
    const auto arrival = hub.Take(Instant::FromNanoseconds(0));
    ASSERT_TRUE(arrival);
    EXPECT_EQ(arrival->node, 1u);
    EXPECT_GT(arrival->received, Instant());
    EXPECT_TRUE(std::ranges::equal(arrival->frame, FrameNo(i, 14 + i)));
  }
  EXPECT_FALSE(hub.Take({}));
  EXPECT_EQ(hub.CountersOf(1).rx_frames, 100u);
  EXPECT_EQ(hub.CountersOf(1).Lost(), 0u);

  for (int i = 0; i < 200; ++i) hub.Send(1, FrameNo(i, i % 3 == 0 ? 1500 : 500));
  hub.Flush();
  const auto sent = client.Receive(200);
  ASSERT_EQ(sent.size(), 200u);
  for (int i = 0; i < 200; ++i) {
    const std::span<const std::byte> bytes(sent[size_t(i)]);
    EXPECT_EQ(VxlanHeader::Parse(bytes), VxlanHeader{0xffffff});
    EXPECT_TRUE(std::ranges::equal(bytes.subspan(8), FrameNo(i, i % 3 == 0 ? 1500 : 500)));
  }
  EXPECT_EQ(hub.CountersOf(1).tx_frames, 200u);
}

TEST_P(HubFamilyTest, OneLongTrainOfEqualFrames) {
  Outside client(here());
  ClientHub hub({{.name = "a", .vni = 1}}, On(here()));
  hub.Claim(0, IpAddress::Parse(here()), client.port());
  for (int i = 0; i < 500; ++i) hub.Send(0, FrameNo(i, 1514));
  hub.Flush();
  const auto sent = client.Receive(500);
  ASSERT_EQ(sent.size(), 500u);
  for (int i = 0; i < 500; ++i) EXPECT_EQ(sent[size_t(i)][8], std::byte(i));
  EXPECT_EQ(hub.CountersOf(0).tx_dropped_refused, 0u);
}

// A hub with an inner socket drops a datagram that arrives at its port, even with the right VNI and
// address.
TEST_P(HubFamilyTest, WithAnInnerSocketThePortIsNobodys) {
  UniqueFd inner(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in own{};
  own.sin_family = AF_INET;
  own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(bind(inner.get(), reinterpret_cast<sockaddr*>(&own), sizeof own), 0);
  ClientHub::Options options = On(here());
  options.inner_socket = inner.release();
  ClientHub hub({{.name = "a", .vni = 7}}, options);
  EXPECT_LE(hub.readers(), 1u);
  EXPECT_NE(hub.port(), hub.underlay().port());
  Outside stranger(here());
  hub.Claim(0, IpAddress::Parse(here()), stranger.port());
  stranger.SendTo(hub.port(), here(), 7, FrameNo(1));
  stranger.SendTo(hub.port(), here(), 8, FrameNo(1));
  hub.Read();
  hub.CountOutside();
  EXPECT_FALSE(hub.Take({}));
  EXPECT_EQ(hub.CountersOf(0).rx_dropped_spoofed, 1u);
  EXPECT_EQ(hub.counters().dropped_unknown_vni, 1u);
  EXPECT_EQ(hub.counters().datagrams, 2u);

  Outside client("127.0.0.1");
  hub.Claim(0, IpAddress::Parse("127.0.0.1"), client.port());
  client.Send(hub, "127.0.0.1", 7, FrameNo(2));
  ReadAll(hub, 3);
  EXPECT_TRUE(hub.Take(Instant::FromNanoseconds(0)));
  hub.Send(0, FrameNo(3));
  hub.Flush();
  EXPECT_EQ(client.Receive(1).size(), 1u);
}

INSTANTIATE_TEST_SUITE_P(Families, HubFamilyTest,
                         testing::Combine(testing::Values("127.0.0.1", "::1"),
                                          testing::Values(0, 1, 3)));
INSTANTIATE_TEST_SUITE_P(Readers, HubTest, testing::Values(0, 1, 3));

TEST_P(HubTest, CountsWhatIsNobodys) {
  Outside client("127.0.0.1");
  ClientHub hub({{.name = "a", .vni = 5}}, On("127.0.0.1"));
  const IpAddress home = IpAddress::Parse("127.0.0.1");
  client.Send(hub, "127.0.0.1", 5, FrameNo(1));  // no client has claimed the node yet
  ReadAll(hub, 1);
  EXPECT_EQ(hub.CountersOf(0).rx_dropped_spoofed, 1u);
  hub.Send(0, FrameNo(1));
  EXPECT_EQ(hub.CountersOf(0).tx_dropped_unclaimed, 1u);

  hub.Claim(0, home, client.port());
  Outside other("127.0.0.2");
  other.Send(hub, "127.0.0.1", 5, FrameNo(2));
  client.Send(hub, "127.0.0.1", 4, FrameNo(3));
  client.Send(hub, "127.0.0.1", 0xffffff, FrameNo(4));
  client.Send(hub, "127.0.0.1", 0, FrameNo(4));
  client.SendBytes(hub, "127.0.0.1", {});
  client.SendBytes(hub, "127.0.0.1", FrameNo(0, 20));
  client.Send(hub, "127.0.0.1", 5, FrameNo(5, 13));
  client.Send(hub, "127.0.0.1", 5, FrameNo(6, 1519));
  client.Send(hub, "127.0.0.1", 5, FrameNo(7, 1518));
  ReadAll(hub, 10);
  EXPECT_EQ(hub.CountersOf(0).rx_dropped_spoofed, 2u);
  EXPECT_EQ(hub.CountersOf(0).rx_dropped_malformed, 1u);
  EXPECT_EQ(hub.CountersOf(0).rx_dropped_too_long, 1u);
  EXPECT_EQ(hub.counters().dropped_unknown_vni, 3u);
  EXPECT_EQ(hub.counters().dropped_malformed, 2u);
  const auto arrival = hub.Take({});
  ASSERT_TRUE(arrival);
  EXPECT_TRUE(std::ranges::equal(arrival->frame, FrameNo(7, 1518)));
  EXPECT_FALSE(hub.Take({}));

  hub.Send(0, FrameNo(0, 1519));
  EXPECT_EQ(hub.CountersOf(0).tx_dropped_too_long, 1u);
  hub.Release(0);
  client.Send(hub, "127.0.0.1", 5, FrameNo(1));
  ReadAll(hub, 11);
  EXPECT_EQ(hub.CountersOf(0).rx_dropped_spoofed, 3u);
}

TEST_P(HubTest, TheFirstHostThatSpeaksIsTheClientWhereAnyoneMay) {
  Outside first("127.0.0.3"), second("127.0.0.2");
  ClientHub hub({{.name = "a", .vni = 5, .anyone = true}}, On("127.0.0.1"));
  first.Send(hub, "127.0.0.1", 5, FrameNo(1));
  ReadAll(hub, 1);
  second.Send(hub, "127.0.0.1", 5, FrameNo(2));
  ReadAll(hub, 2);
  EXPECT_EQ(hub.ClientOf(0)->ToString(), "127.0.0.3");
  EXPECT_EQ(hub.ClientOf(0)->port(), hub.underlay().port());
  EXPECT_EQ(hub.CountersOf(0).rx_dropped_spoofed, 1u);
  EXPECT_EQ(hub.Take({})->frame[0], std::byte(1));
}

TEST_P(HubTest, RefusesNumbersThatAreNone) {
  EXPECT_THROW(ClientHub({{.name = "a", .vni = 0}}, On("127.0.0.1")), UsageError);
  EXPECT_THROW(ClientHub({{.name = "a", .vni = 1 << 24}}, On("127.0.0.1")), UsageError);
  EXPECT_THROW(ClientHub({{.name = "a", .vni = 1}, {.name = "b", .vni = 1}}, On("127.0.0.1")),
               UsageError);
  ClientHub hub({{.name = "a", .vni = 1}}, On("127.0.0.1"));
  EXPECT_THROW(ClientHub({{.name = "a", .vni = 1}}, On("127.0.0.1", hub.underlay().port())),
               UsageError)
      << "nobody else may read with it";
}

TEST_P(HubTest, KeepsTheOrderOfEachClient) {
  constexpr uint32_t kClients = 20, kFrames = 52;
  std::vector<RemoteNode> nodes;
  for (uint32_t i = 0; i < kClients; ++i) {
    nodes.push_back({.name = fmt::format("n{}", i),
                     .vni = 1000 + 7 * i,
                     .address = IpAddress::Parse("127.0.0.1")});
  }
  Outside client("127.0.0.1");
  ClientHub hub(nodes, On("127.0.0.1"));
  std::vector<uint32_t> next(kClients);
  // Alternates between sending and reading, so that the threads run out of work and wait many
  // times.
  for (uint32_t frame = 0; frame < kFrames; ++frame) {
    for (const RemoteNode& node : nodes) {
      client.Send(hub, "127.0.0.1", node.vni, FrameNo(static_cast<int>(frame)));
    }
    if (frame % 3 != 0) continue;
    ReadAll(hub, uint64_t{frame + 1} * kClients);
    while (const auto arrival = hub.Take({})) {
      EXPECT_EQ(arrival->frame[0], std::byte(next[arrival->node]++));
    }
  }
  for (uint32_t i = 0; i < kClients; ++i) {
    EXPECT_EQ(next[i], kFrames);
    EXPECT_EQ(hub.CountersOf(i).Lost(), 0u);
  }
  EXPECT_EQ(hub.readers(), GetParam());
}

// The VXLAN interface of a kernel sends from many ports, depending on the frames.
TEST(UnderlayTest, AClientsDatagramsAllComeToOneSocketWhateverTheirSourcePort) {
  constexpr uint32_t kSockets = 3, kVnis = 12, kPorts = 10;
  std::vector<std::unique_ptr<Underlay>> sockets;
  Underlay::Options options{.address = "127.0.0.1"};
  for (uint32_t i = 0; i < kSockets; ++i) {
    sockets.push_back(std::make_unique<Underlay>(options));
    options.beside = sockets.front().get();
  }
  SpreadByVni(*sockets.front(), kSockets);
  for (uint32_t i = 0; i < kPorts; ++i) {
    Underlay client({.address = "127.0.0.1"});
    const Peer to(IpAddress::Parse("127.0.0.1"), sockets.front()->port());
    for (uint32_t vni = 1; vni <= kVnis; ++vni) {
      VxlanHeader{vni}.Write(client.Queue(to, VxlanHeader::kSize + 60, 0));
      client.Flush([](uint32_t, size_t) { ADD_FAILURE() << "not sent"; });
    }
  }
  for (uint32_t i = 0; i < kSockets; ++i) {
    uint32_t received = 0;
    while (received < kVnis / kSockets * kPorts) {
      pollfd wait{sockets[i]->fd(), POLLIN, 0};
      ASSERT_EQ(poll(&wait, 1, 5000), 1);
      sockets[i]->Receive([&](const Underlay::Message& message) {
        const size_t one = VxlanHeader::kSize + 60;
        for (size_t at = 0; at < message.bytes.size(); at += one, ++received) {
          EXPECT_EQ(VxlanHeader::Parse(message.bytes.subspan(at, one))->vni % kSockets, i);
        }
      });
    }
  }
}

TEST_P(HubTest, EveryAddressOfTheMachineByDefault) {
  Outside four("127.0.0.1"), six("::1");
  ClientHub hub({{.name = "a", .vni = 1, .address = IpAddress::Parse("127.0.0.1")},
                 {.name = "b", .vni = 2, .address = IpAddress::Parse("::1")}},
                {.port = 0});
  four.Send(hub, "127.0.0.1", 1, FrameNo(1));
  six.Send(hub, "::1", 2, FrameNo(2));
  ReadAll(hub, 2);
  EXPECT_EQ(hub.Take({})->node, 0u);
  EXPECT_EQ(hub.Take({})->node, 1u);
}

}  // namespace
}  // namespace viaduct::tunnel
