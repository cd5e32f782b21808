#include "base/wire/segment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/wire/checksum.h"
#include "base/wire/test/packet_builder.h"

namespace viaduct::wire {
namespace {

using namespace packet;
using testing::ElementsAre;

std::vector<std::vector<std::byte>> Cut(const std::vector<std::byte>& frame, uint16_t gso_size,
                                        bool partial = true, size_t checksum_start = 0) {
  std::vector<std::vector<std::byte>> frames;
  auto segmenter = Segmenter::Begin(frame, gso_size, partial, checksum_start);
  if (!segmenter) return frames;
  if (checksum_start != 0) {
    EXPECT_EQ(segmenter->layers().transport, checksum_start);
  }
  std::vector<std::byte> memory(2048);
  while (!segmenter->Finished()) {
    const Bytes cut = segmenter->Next(memory);
    if (cut.empty()) {
      ADD_FAILURE() << "no room";
      break;
    }
    frames.emplace_back(cut.begin(), cut.end());
  }
  return frames;
}

std::vector<std::string> DescribeCut(const std::vector<std::byte>& frame, uint16_t gso_size) {
  std::vector<std::string> descriptions;
  for (const auto& cut : Cut(frame, gso_size)) descriptions.push_back(Describe(cut));
  return descriptions;
}

std::vector<std::byte> PayloadsOf(const std::vector<std::vector<std::byte>>& frames) {
  std::vector<std::byte> all;
  for (const auto& frame : frames) {
    const ConstBytes payload = PayloadOf(frame);
    all.insert(all.end(), payload.begin(), payload.end());
  }
  return all;
}

constexpr char kEth[] = "eth 02:00:00:00:00:01 > 02:00:00:00:00:02 / ";

TEST(SegmenterTest, CutsTcpOverIpv4) {
  const auto frame =
      Build(Ethernet{} / Ipv4{.id = 65535} /
            Tcp{.sequence = 0xffffff00,
                .flags = tcp_flag::kAck | tcp_flag::kPsh | tcp_flag::kFin | tcp_flag::kCwr} /
            Counting(2500));
  const std::string ip = kEth + std::string("ipv4 10.0.0.1 > 10.0.0.2 ttl 64 ");
  EXPECT_THAT(
      DescribeCut(frame, 1000),
      ElementsAre(ip + "id 65535 / tcp 1024 > 80 AC seq 4294967040 checksum good / 1000 bytes",
                  ip + "id 0 / tcp 1024 > 80 A seq 744 checksum good / 1000 bytes",
                  ip + "id 1 / tcp 1024 > 80 FPA seq 1744 checksum good / 500 bytes"));
  const ConstBytes payload = PayloadOf(frame);
  EXPECT_EQ(PayloadsOf(Cut(frame, 1000)), std::vector(payload.begin(), payload.end()));
}

TEST(SegmenterTest, CutsTcpOverIpv6BehindAVlanTag) {
  const auto frame =
      Build(Ethernet{} / Vlan{.id = 7} / Ipv6{} / Tcp{.sequence = 5} / Counting(101));
  const std::string ip = kEth + std::string("vlan 7 / ipv6 2001:db8::1 > 2001:db8::2 hops 64 / ");
  EXPECT_THAT(DescribeCut(frame, 100),
              ElementsAre(ip + "tcp 1024 > 80 A seq 5 checksum good / 100 bytes",
                          ip + "tcp 1024 > 80 A seq 105 checksum good / 1 bytes"));
}

TEST(SegmenterTest, CutsUdp) {
  const auto frame = Build(Ethernet{} / Ipv4{.id = 9} / Udp{1, 2} / Counting(250));
  const std::string ip = kEth + std::string("ipv4 10.0.0.1 > 10.0.0.2 ttl 64 ");
  EXPECT_THAT(DescribeCut(frame, 100),
              ElementsAre(ip + "id 9 / udp 1 > 2 checksum good / 100 bytes",
                          ip + "id 10 / udp 1 > 2 checksum good / 100 bytes",
                          ip + "id 11 / udp 1 > 2 checksum good / 50 bytes"));
  EXPECT_EQ(PayloadsOf(Cut(frame, 100)).size(), 250u);
  const auto udp = UdpHeader::Parse(ConstBytes(Cut(frame, 100)[2]).subspan(34));
  EXPECT_EQ(udp->length, 58);
}

TEST(SegmenterTest, KeepsOptions) {
  auto frame = Build(Ethernet{} / Ipv4{} / Tcp{} / Counting(12 + 30));
  // Sets the TCP header length to 32: the first 12 payload bytes become options.
  frame[14 + 20 + 12] = std::byte{0x80};
  const auto cut = Cut(frame, 20);
  ASSERT_EQ(cut.size(), 2u);
  for (const auto& part : cut) {
    EXPECT_TRUE(std::equal(frame.begin() + 54, frame.begin() + 66, part.begin() + 54));
    EXPECT_THAT(Describe(part), testing::HasSubstr("checksum good"));
  }
  EXPECT_EQ(cut[1].size(), 54u + 12 + 10);
}

TEST(SegmenterTest, AnExactMultipleHasNoEmptyTail) {
  EXPECT_EQ(Cut(Build(Ethernet{} / Ipv4{} / Tcp{} / Counting(3000)), 1000).size(), 3u);
  EXPECT_EQ(Cut(Build(Ethernet{} / Ipv4{} / Tcp{} / Counting(10)), 1000).size(), 1u);
  EXPECT_EQ(Cut(Build(Ethernet{} / Ipv4{} / Tcp{}), 1000).size(), 1u);
}

TEST(SegmenterTest, LeavesPaddingOut) {
  auto frame = Build(Ethernet{} / Ipv4{} / Tcp{} / Counting(15));
  frame.resize(frame.size() + 20);
  const auto cut = Cut(frame, 10);
  ASSERT_EQ(cut.size(), 2u);
  EXPECT_EQ(PayloadsOf(cut).size(), 15u);
}

TEST(SegmenterTest, AUdpChecksumThatIsNoneStaysNone) {
  auto frame = Build(Ethernet{} / Ipv4{} / Udp{} / Counting(20));
  Store16(&frame[40], 0);
  for (const auto& cut : Cut(frame, 10, false)) {
    EXPECT_THAT(Describe(cut), testing::HasSubstr("checksum none"));
  }
  EXPECT_THAT(Describe(Cut(frame, 10, true)[0]), testing::HasSubstr("checksum good"));
}

TEST(SegmenterTest, RefusesWhatItCannotCut) {
  const auto tcp = Build(Ethernet{} / Ipv4{} / Tcp{} / Counting(50));
  EXPECT_FALSE(Segmenter::Begin(tcp, 0, true));
  // With this gso_size the frames would be longer than a length field can express.
  EXPECT_FALSE(Segmenter::Begin(tcp, 65535, true));
  EXPECT_FALSE(Segmenter::Begin(ConstBytes(tcp).first(60), 10, true));
  EXPECT_FALSE(Segmenter::Begin(Build(Ethernet{} / Ipv4{} / Icmp{} / Counting(50)), 10, true));
  EXPECT_FALSE(Segmenter::Begin(Build(Ethernet{} / Arp{}), 10, true));
  EXPECT_FALSE(Segmenter::Begin(
      Build(Ethernet{} / Ipv4{.more_fragments = true} / Udp{} / Counting(50)), 10, true));
}

// Returns the payload of a tunnel: the tunnel header and the inner packet.
Payload Inside(const std::vector<std::byte>& header, const std::vector<std::byte>& inner) {
  std::string bytes(reinterpret_cast<const char*>(header.data()), header.size());
  bytes.append(reinterpret_cast<const char*>(inner.data()), inner.size());
  return {bytes};
}

std::vector<std::byte> BuildPacket(const Packet& packet) {
  auto frame = Build(packet);
  frame.erase(frame.begin(), frame.begin() + 14);
  return frame;
}

// Cuts `frame`, whose inner transport header is at `start`, into segments of 1000 bytes. Describes
// the outer headers of each segment, and the inner packet, which begins at `inner`.
struct Nested {
  std::vector<std::string> outer, inner;
};
Nested CutTunnel(const std::vector<std::byte>& frame, size_t start, size_t inner, bool ethernet) {
  Nested nested;
  for (const std::vector<std::byte>& cut : Cut(frame, 1000, true, start)) {
    nested.outer.push_back(Describe(cut));
    const ConstBytes within = ConstBytes(cut).subspan(inner);
    nested.inner.push_back(ethernet ? Describe(within) : DescribePacket(within));
  }
  return nested;
}

const std::string kVxlanHeader = "0800000000000700";
constexpr size_t kInVxlan = 14 + 20 + 8 + 8;

TEST(SegmenterTest, CutsWhatIsInsideOfVxlan) {
  const auto inner = Build(Ethernet{} / Ipv4{.source = "10.7.0.1", .id = 3} / Tcp{.sequence = 50} /
                           Counting(2500));
  auto frame =
      Build(Ethernet{} / Ipv4{.id = 8} / Udp{5, 4789} / Inside(FromHex(kVxlanHeader), inner));
  const Nested cut = CutTunnel(frame, kInVxlan + 34, kInVxlan, true);
  const std::string ip = kEth + std::string("ipv4 10.0.0.1 > 10.0.0.2 ttl 64 ");
  EXPECT_THAT(cut.outer, ElementsAre(ip + "id 8 / udp 5 > 4789 checksum good / 1062 bytes",
                                     ip + "id 9 / udp 5 > 4789 checksum good / 1062 bytes",
                                     ip + "id 10 / udp 5 > 4789 checksum good / 562 bytes"));
  const std::string within = kEth + std::string("ipv4 10.7.0.1 > 10.0.0.2 ttl 64 ");
  EXPECT_THAT(cut.inner,
              ElementsAre(within + "id 3 / tcp 1024 > 80 A seq 50 checksum good / 1000 bytes",
                          within + "id 4 / tcp 1024 > 80 A seq 1050 checksum good / 1000 bytes",
                          within + "id 5 / tcp 1024 > 80 A seq 2050 checksum good / 500 bytes"));
  Store16(&frame[40], 0);
  for (const auto& outer : CutTunnel(frame, kInVxlan + 34, kInVxlan, true).outer) {
    EXPECT_THAT(outer, testing::HasSubstr("checksum none"));
  }
}

TEST(SegmenterTest, CutsIpv6InsideOfIpv6) {
  const auto inner = Build(Ethernet{} / Ipv6{} / Udp{7, 8} / Counting(1500));
  const auto frame = Build(Ethernet{} / Ipv6{.source = "2001:db8::9"} / Udp{5, 6081} /
                           Inside(FromHex(kVxlanHeader), inner));
  const Nested cut = CutTunnel(frame, 70 + 54, 70, true);
  const std::string ip = kEth + std::string("ipv6 2001:db8::9 > 2001:db8::2 hops 64 / ");
  EXPECT_THAT(cut.outer, ElementsAre(ip + "udp 5 > 6081 checksum good / 1070 bytes",
                                     ip + "udp 5 > 6081 checksum good / 570 bytes"));
  EXPECT_THAT(cut.inner, ElementsAre(testing::HasSubstr("udp 7 > 8 checksum good / 1000 bytes"),
                                     testing::HasSubstr("udp 7 > 8 checksum good / 500 bytes")));
}

TEST(SegmenterTest, CutsWhatIsInsideOfGreAndOfIp) {
  const auto inner = BuildPacket(Ethernet{} / Ipv4{.source = "10.7.0.1"} / Tcp{} / Counting(1100));
  const auto plain = Build(Ethernet{} / Ipv4{.protocol = 4} / Inside({}, inner));
  Nested cut = CutTunnel(plain, 34 + 20, 34, false);
  EXPECT_EQ(cut.outer.size(), 2u);
  EXPECT_THAT(cut.inner, ElementsAre(testing::HasSubstr("checksum good / 1000 bytes"),
                                     testing::HasSubstr("checksum good / 100 bytes")));

  // A GRE header with a checksum, which covers the GRE header and its payload.
  const auto gre =
      Build(Ethernet{} / Ipv4{.protocol = 47} / Inside(FromHex("80000800 ffff0000"), inner));
  auto segmenter = Segmenter::Begin(gre, 1000, true, 42 + 20);
  ASSERT_TRUE(segmenter);
  std::vector<std::byte> memory(2048);
  while (!segmenter->Finished()) {
    const Bytes whole = segmenter->Next(memory);
    ASSERT_FALSE(whole.empty());
    EXPECT_EQ(InternetChecksum(whole.subspan(34)), 0);
    EXPECT_THAT(DescribePacket(whole.subspan(42)), testing::HasSubstr("checksum good"));
  }
}

TEST(SegmenterTest, RefusesTunnelsThatItDoesNotKnow) {
  const auto inner = BuildPacket(Ethernet{} / Ipv4{} / Tcp{} / Counting(1100));
  const auto vxlan = Build(Ethernet{} / Ipv4{} / Udp{} / Inside(FromHex(kVxlanHeader), inner));
  EXPECT_TRUE(Segmenter::Begin(vxlan, 1000, true, 50 + 20));
  EXPECT_FALSE(Segmenter::Begin(vxlan, 1000, true, 50 + 24));  // no IP header ends at this offset
  EXPECT_FALSE(Segmenter::Begin(vxlan, 1000, true, 9000));
  // Tunnels that are refused: GRE with sequence numbers, and a protocol whose header is unknown.
  EXPECT_FALSE(Segmenter::Begin(
      Build(Ethernet{} / Ipv4{.protocol = 47} / Inside(FromHex("10000800 00000001"), inner)), 1000,
      true, 42 + 20));
  EXPECT_FALSE(Segmenter::Begin(
      Build(Ethernet{} / Ipv4{.protocol = 50} / Inside(FromHex("0000000100000001"), inner)), 1000,
      true, 42 + 20));
}

TEST(SegmenterTest, SaysWhenThereIsNoRoom) {
  const auto frame = Build(Ethernet{} / Ipv4{} / Tcp{} / Counting(50));
  auto segmenter = Segmenter::Begin(frame, 20, true);
  std::vector<std::byte> memory(54 + 19);
  EXPECT_TRUE(segmenter->Next(memory).empty());
  EXPECT_FALSE(segmenter->Finished());
  memory.resize(54 + 20);
  EXPECT_EQ(segmenter->Next(memory).size(), 74u);
}

}  // namespace
}  // namespace viaduct::wire
