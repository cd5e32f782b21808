#include "port/super_frame.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/wire/test/packet_builder.h"

namespace viaduct::io {
namespace {

using namespace wire::packet;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Result {
  bool whole = false;
  std::vector<std::string> frames;
};

Result Split(std::vector<std::byte> bytes, ReceivedFrame frame, size_t max_frame = 1514) {
  SuperFrameSplitter splitter(max_frame);
  Result result;
  frame.bytes = bytes;
  result.whole = splitter.Split(
      frame, [&](std::span<std::byte> proper) { result.frames.push_back(Describe(proper)); });
  return result;
}

// Returns the metadata of a frame from a TCP sender on this machine: the checksum is partial and
// covers the bytes from 34 on.
ReceivedFrame Partial(uint16_t gso_size) {
  ReceivedFrame frame;
  frame.checksum = Checksum::kPartial;
  frame.checksum_start = 34;
  frame.checksum_offset = 16;
  frame.gso_size = gso_size;
  return frame;
}

std::vector<std::byte> TcpWithPseudoHeaderSum(size_t payload) {
  auto bytes = Build(Ethernet{} / Ipv4{} / Tcp{} / Counting(payload));
  const auto a = wire::IpAddress::Parse("10.0.0.1"), b = wire::IpAddress::Parse("10.0.0.2");
  wire::Store16(&bytes[50],
                static_cast<uint16_t>(wire::PseudoHeaderSum(a, b, wire::ip_protocol::kTcp,
                                                            static_cast<uint32_t>(20 + payload))));
  return bytes;
}

TEST(SuperFrameSplitterTest, PassesProperFramesAsTheyAre) {
  auto bytes = Build(Ethernet{} / Ipv4{} / Udp{} / Payload{"x"});
  bytes.back() = std::byte{'y'};  // a bit error must stay in the frame
  const Result result = Split(bytes, {});
  EXPECT_TRUE(result.whole);
  EXPECT_THAT(result.frames, ElementsAre(HasSubstr("checksum bad")));
}

TEST(SuperFrameSplitterTest, CompletesPartialChecksums) {
  const Result result = Split(TcpWithPseudoHeaderSum(100), Partial(0));
  EXPECT_TRUE(result.whole);
  EXPECT_THAT(result.frames, ElementsAre(HasSubstr("checksum good / 100 bytes")));
}

TEST(SuperFrameSplitterTest, CutsSuperFrames) {
  const Result result = Split(TcpWithPseudoHeaderSum(2500), Partial(1000));
  EXPECT_TRUE(result.whole);
  EXPECT_THAT(result.frames,
              ElementsAre(HasSubstr("id 0 / tcp 1024 > 80 A seq 0 checksum good / 1000 bytes"),
                          HasSubstr("id 1 / tcp 1024 > 80 A seq 1000 checksum good / 1000 bytes"),
                          HasSubstr("id 2 / tcp 1024 > 80 A seq 2000 checksum good / 500 bytes")));
}

TEST(SuperFrameSplitterTest, CutsWhatGroPutTogetherWithCompleteChecksums) {
  ReceivedFrame frame;
  frame.gso_size = 50;
  const Result result = Split(Build(Ethernet{} / Ipv6{} / Tcp{} / Counting(120)), frame);
  EXPECT_TRUE(result.whole);
  EXPECT_EQ(result.frames.size(), 3u);
  EXPECT_THAT(result.frames, Each(HasSubstr("checksum good")));
}

TEST(SuperFrameSplitterTest, RefusesFramesThatContradictThemselves) {
  ReceivedFrame outside = Partial(0);
  outside.checksum_start = 9000;
  EXPECT_FALSE(Split(TcpWithPseudoHeaderSum(10), outside).whole);

  // A super-frame in a tunnel: the checksum starts after the outer transport header.
  ReceivedFrame tunnel = Partial(1000);
  tunnel.checksum_start = 84;
  const Result result = Split(Build(Ethernet{} / Ipv4{} / Udp{} / Counting(2500)), tunnel);
  EXPECT_FALSE(result.whole);
  EXPECT_THAT(result.frames, IsEmpty());

  EXPECT_FALSE(Split(Build(Ethernet{} / Arp{}), Partial(1000)).whole);
  EXPECT_FALSE(Split(TcpWithPseudoHeaderSum(2500), Partial(1000), 1053).whole);
  EXPECT_TRUE(Split(TcpWithPseudoHeaderSum(2500), Partial(1000), 1054).whole);
}

}  // namespace
}  // namespace viaduct::io
