#include "base/wire/transport_payload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/wire/test/packet_builder.h"

namespace viaduct::wire {
namespace {

using namespace packet;
using testing::HasSubstr;

TEST(TransportPayloadTest, IsWhatThePayloadIs) {
  const auto udp = Build(Ethernet{} / Ipv4{} / Udp{} / Payload{"hello"});
  const auto found = FindTransportPayload(udp);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->begin, 14U + 20 + 8);
  EXPECT_EQ(found->end, found->begin + 5);
  const auto tcp = Build(Ethernet{} / Vlan{.id = 7} / Ipv6{} / Tcp{} / Payload{"hello"});
  EXPECT_EQ(FindTransportPayload(tcp)->begin, 14U + 4 + 40 + 20);
}

// Tests a short frame that Ethernet pads: the checksum does not cover the padding.
TEST(TransportPayloadTest, PaddingIsNoPayload) {
  auto frame = Build(Ethernet{} / Ipv4{} / Udp{} / Payload{"abc"});
  frame.resize(60);
  EXPECT_EQ(FindTransportPayload(frame)->end, 14U + 20 + 8 + 3);
  // Bytes beyond the length in the UDP header are no payload either.
  auto shorter = Build(Ethernet{} / Ipv4{} / Udp{} / Payload{"abcdef"});
  Store16(&shorter[14 + 20 + 4], 8 + 2);
  EXPECT_EQ(FindTransportPayload(shorter)->end, 14U + 20 + 8 + 2);
}

TEST(TransportPayloadTest, MalformedPacketsHaveNone) {
  const auto whole = Build(Ethernet{} / Ipv4{} / Udp{} / Payload{"hello"});
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(FindTransportPayload({whole.data(), size})) << size;
  }
  auto longer = whole;
  Store16(&longer[14 + 20 + 4], 8 + 6);  // a length beyond the packet's end
  EXPECT_FALSE(FindTransportPayload(longer));
  Store16(&longer[14 + 20 + 4], 7);  // a length that is shorter than the UDP header
  EXPECT_FALSE(FindTransportPayload(longer));
  auto tcp = Build(Ethernet{} / Ipv4{} / Tcp{} / Payload{"hello"});
  Store8(&tcp[14 + 20 + 12], 0xf0);  // a TCP header length beyond the packet's end
  EXPECT_FALSE(FindTransportPayload(tcp));
}

TEST(TransportPayloadTest, EveryBitCanBeFlippedBehindARightChecksum) {
  for (const char* text : {"hello", "hello!"}) {
    for (const auto& sent : {Ethernet{} / Ipv4{} / Udp{} / Payload{text},
                             Ethernet{} / Ipv6{} / Tcp{} / Payload{text}}) {
      const auto original = Build(sent);
      const auto payload = FindTransportPayload(original);
      ASSERT_TRUE(payload);
      for (size_t bit = 0; bit < (payload->end - payload->begin) * 8; ++bit) {
        auto frame = original;
        FlipPayloadBit(frame, *payload, bit);
        EXPECT_EQ(Describe(frame), Describe(original));
        EXPECT_THAT(Describe(frame), HasSubstr("checksum good"));
        EXPECT_EQ(frame[payload->begin + bit / 8] ^ original[payload->begin + bit / 8],
                  std::byte{1} << (bit % 8));
      }
    }
  }
}

// A UDP checksum is never written as 0, because 0 means that there is no checksum (RFC 768).
TEST(TransportPayloadTest, AChecksumOfZero) {
  auto none = Build(Ethernet{} / Ipv4{} / Udp{} / Payload{"hello"});
  const auto payload = FindTransportPayload(none);
  ASSERT_TRUE(payload);
  Store16(&none[payload->checksum], 0);
  FlipPayloadBit(none, *payload, 3);
  EXPECT_EQ(Load16(&none[payload->checksum]), 0);
  // Tries all payloads of 16 bits: after a flipped bit, the checksum of some of them is computed as
  // 0, and is written as 0xffff.
  size_t zeros = 0;
  for (uint32_t word = 0; word <= 0xffff; ++word) {
    const std::string text{static_cast<char>(word >> 8), static_cast<char>(word & 0xff)};
    auto frame = Build(Ethernet{} / Ipv4{} / Udp{} / Payload{text});
    const auto found = FindTransportPayload(frame);
    FlipPayloadBit(frame, *found, 15);
    zeros += Load16(&frame[found->checksum]) == 0xffff ? 1 : 0;
    ASSERT_NE(Load16(&frame[found->checksum]), 0) << word;
  }
  EXPECT_GT(zeros, 0U);
}

// A checksum that was wrong before stays wrong after FlipPayloadBit().
TEST(TransportPayloadTest, OtherDamageStillShows) {
  auto frame = Build(Ethernet{} / Ipv4{} / Udp{} / Payload{"hello"});
  const auto payload = FindTransportPayload(frame);
  ASSERT_TRUE(payload);
  frame[payload->begin] ^= std::byte{4};
  FlipPayloadBit(frame, *payload, 9);
  EXPECT_THAT(Describe(frame), HasSubstr("checksum bad"));
}

}  // namespace
}  // namespace viaduct::wire
