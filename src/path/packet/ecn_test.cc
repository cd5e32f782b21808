#include "path/packet/ecn.h"

#include <gtest/gtest.h>

#include "base/wire/test/packet_builder.h"
#include "path/queue/test_queues.h"

namespace viaduct::path {
namespace {

namespace p = wire::packet;

uint8_t EcnOfIpv4(const std::vector<std::byte>& frame, size_t ip) {
  return wire::Load8(frame.data() + ip + 1);
}

TEST(Ecn, MarksIpv4AndKeepsTheChecksumRight) {
  for (const uint8_t ect : {1, 2, 3}) {
    const auto tos = static_cast<uint8_t>(0xb8 | ect);
    auto frame = p::Build(p::Ethernet{} / p::Ipv4{.tos = tos} / p::Udp{} / p::Payload{"x"});
    auto expected = p::Build(p::Ethernet{} / p::Ipv4{.tos = 0xbb} / p::Udp{} / p::Payload{"x"});
    EXPECT_TRUE(MarkCongestionExperienced(frame));
    EXPECT_EQ(frame, expected) << int{ect};
  }
}

TEST(Ecn, MarksIpv6AndNothingElseInIt) {
  for (const uint8_t ect : {1, 2, 3}) {
    const auto traffic_class = static_cast<uint8_t>(0xb8 | ect);
    auto frame = p::Build(p::Ethernet{} / p::Ipv6{.traffic_class = traffic_class} / p::Udp{});
    auto expected = p::Build(p::Ethernet{} / p::Ipv6{.traffic_class = 0xbb} / p::Udp{});
    EXPECT_TRUE(MarkCongestionExperienced(frame));
    EXPECT_EQ(frame, expected);
  }
}

TEST(Ecn, MarksBehindVlanTags) {
  auto frame =
      p::Build(p::Ethernet{} / p::Vlan{.id = 5} / p::Vlan{.id = 6} / p::Ipv4{.tos = 2} / p::Udp{});
  EXPECT_TRUE(MarkCongestionExperienced(frame));
  EXPECT_EQ(EcnOfIpv4(frame, 22), 3);
}

TEST(Ecn, LeavesWhatIsNotCapable) {
  std::vector<std::byte> frames[] = {
      p::Build(p::Ethernet{} / p::Ipv4{.tos = 0xb8} / p::Udp{}),
      p::Build(p::Ethernet{} / p::Ipv6{.traffic_class = 0xb8} / p::Udp{}),
      p::Build(p::Ethernet{} / p::Arp{}),
      p::FromHex("0200"),
      p::FromHex("020000000001 020000000002 0800 45"),
      p::FromHex("020000000001 020000000002 86dd 60"),
      p::FromHex("020000000001 020000000002 0800 65 02 0014 0000 0000 4011 0000 0a000001 0a000002"),
  };
  for (auto& frame : frames) {
    const auto before = frame;
    EXPECT_FALSE(MarkCongestionExperienced(frame));
    EXPECT_EQ(frame, before);
  }
}

// Bit errors occur before the queue: a mark must not repair a header with bit errors.
TEST(Ecn, AWrongChecksumStaysWrong) {
  auto frame = p::Build(p::Ethernet{} / p::Ipv4{.tos = 2} / p::Udp{});
  frame[14 + 8] ^= std::byte{1};
  EXPECT_TRUE(MarkCongestionExperienced(frame));
  const auto good = p::Build(p::Ethernet{} / p::Ipv4{.tos = 3} / p::Udp{});
  EXPECT_EQ(wire::Load16(frame.data() + 24), wire::Load16(good.data() + 24));
}

TEST(Ecn, SaysSoOnThePacket) {
  test::Frames frames;
  Packet packet;
  packet.frame = frames.Add(p::Build(p::Ethernet{} / p::Ipv4{.tos = 1} / p::Udp{}));
  EXPECT_TRUE(Mark(packet, frames));
  EXPECT_TRUE(packet.marked);
  Packet plain;
  plain.frame = frames.Add(p::Build(p::Ethernet{} / p::Ipv4{} / p::Udp{}));
  EXPECT_FALSE(Mark(plain, frames));
  EXPECT_FALSE(plain.marked);
}

}  // namespace
}  // namespace viaduct::path
