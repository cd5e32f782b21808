#include "remote/tunnel/inner_frame.h"

#include <gtest/gtest.h>

#include "base/wire/checksum.h"
#include "base/wire/layers.h"
#include "base/wire/test/packet_builder.h"
#include "base/wire/transport.h"
#include "port/super_frame.h"

namespace viaduct::tunnel {
namespace {

using namespace wire::packet;

using Frames = std::vector<std::vector<std::byte>>;

// Makes a checksum partial, as a kernel leaves it to a device: the field holds the pseudo-header's
// sum.
std::vector<std::byte> WithPartialChecksum(std::vector<std::byte> frame) {
  const auto layers = *wire::FindIpLayers(frame);
  const size_t offset =
      layers.protocol == 6 ? wire::TcpHeader::kChecksumOffset : wire::UdpHeader::kChecksumOffset;
  const uint32_t sum =
      wire::PseudoHeaderSum(layers.Source(frame), layers.Destination(frame), layers.protocol,
                            static_cast<uint32_t>(layers.end - layers.transport));
  wire::Store16(frame.data() + layers.transport + offset,
                static_cast<uint16_t>(~wire::FinishChecksum(sum)));
  return frame;
}

Frames SplitAll(std::vector<std::byte> frame, size_t segment) {
  Frames all;
  io::SuperFrameSplitter splitter;
  EXPECT_TRUE(splitter.Split(DescribeInnerFrame(frame, segment, {}), [&](std::span<std::byte> one) {
    all.emplace_back(one.begin(), one.end());
  }));
  return all;
}

bool HasRightChecksum(std::span<const std::byte> frame) {
  const auto layers = *wire::FindIpLayers(frame);
  return wire::TransportChecksumIsRight(
      layers.Source(frame), layers.Destination(frame), layers.protocol,
      frame.subspan(layers.transport, layers.end - layers.transport));
}

TEST(InnerFrameTest, CompletesAPartialChecksumAndLeavesOthers) {
  const Frames frames = {
      Build(Ethernet{} / Ipv4{} / Udp{1, 2} / Payload{"hello"}),
      Build(Ethernet{} / Ipv6{} / Udp{1, 2} / Payload{"hello"}),
      Build(Ethernet{} / Vlan{.id = 5} / Ipv4{} / Tcp{} / Payload{"hello"}),
      Build(Ethernet{} / Ipv6{} / Tcp{} / Payload{"odd"}),
  };
  for (const auto& frame : frames) {
    const auto partial = WithPartialChecksum(frame);
    EXPECT_FALSE(HasRightChecksum(partial));
    const auto completed = SplitAll(partial, 0);
    ASSERT_EQ(completed.size(), 1u);
    EXPECT_EQ(completed[0], frame);
    // A wrong checksum that is not partial is an error of the sender and must be passed on
    // unchanged.
    auto wrong = frame;
    wrong.back() ^= std::byte{1};
    EXPECT_EQ(SplitAll(wrong, 0), Frames{wrong});
    EXPECT_EQ(SplitAll(frame, 0), Frames{frame});
  }
  const auto arp = Build(Ethernet{} / Arp{});
  EXPECT_EQ(SplitAll(arp, 0), Frames{arp});
}

TEST(InnerFrameTest, TellsASuperFrameFromDatagramsThatWerePutTogether) {
  const auto super = Build(Ethernet{} / Ipv4{} / Udp{1, 2} / Payload{std::string(2000, 'x')});
  EXPECT_TRUE(IsSuperFrame(super, 500));
  const auto small = Build(Ethernet{} / Ipv4{} / Udp{1, 2} / Payload{std::string(400, 'x')});
  std::vector<std::byte> two = small;
  two.resize(two.size() + 8);  // the second datagram's VXLAN header
  two.insert(two.end(), small.begin(), small.end());
  EXPECT_FALSE(IsSuperFrame(two, small.size() + 8));
  const auto cut = SplitAll(WithPartialChecksum(super), 500);
  ASSERT_EQ(cut.size(), 4u);
  for (const auto& frame : cut) {
    EXPECT_EQ(frame.size(), 14u + 20 + 8 + 500);
    EXPECT_TRUE(HasRightChecksum(frame));
  }
}

TEST(InnerFrameTest, CutsTcpToTheLongestFrame) {
  const auto super =
      WithPartialChecksum(Build(Ethernet{} / Ipv4{} / Tcp{} / Payload{std::string(5000, 'x')}));
  const size_t segment = SegmentOfTcp(super, 1514);
  EXPECT_EQ(segment, 1460u);
  const auto cut = SplitAll(super, segment);
  ASSERT_EQ(cut.size(), 4u);
  EXPECT_EQ(cut[0].size(), 1514u);
  for (const auto& frame : cut) EXPECT_TRUE(HasRightChecksum(frame));
  EXPECT_EQ(SegmentOfTcp(Build(Ethernet{} / Ipv4{} / Udp{1, 2} / Payload{"x"}), 1514), 0u);
  EXPECT_EQ(SegmentOfTcp(Build(Ethernet{} / Arp{}), 1514), 0u);
}

}  // namespace
}  // namespace viaduct::tunnel
