#include "base/wire/checksum.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/random.h"
#include "base/wire/ip.h"
#include "base/wire/test/packet_builder.h"

namespace viaduct::wire {
namespace {

using packet::FromHex;

// Computes a checksum word by word, as in RFC 1071 section 4.1, to compare with.
uint16_t PlainChecksum(ConstBytes bytes) {
  uint32_t sum = 0;
  for (size_t i = 0; i < bytes.size(); i += 2) {
    sum += Load8(&bytes[i]) << 8;
    if (i + 1 < bytes.size()) sum += Load8(&bytes[i + 1]);
  }
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<uint16_t>(~sum);
}

std::vector<std::byte> RandomBytes(RandomStream& random, size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::byte& b : bytes) b = static_cast<std::byte>(random.Next());
  return bytes;
}

TEST(ChecksumTest, Rfc1071Example) {
  // The example of RFC 1071 section 3: the words 0001 f203 f4f5 f6f7 have the sum ddf2.
  const auto bytes = FromHex("0001 f203 f4f5 f6f7");
  EXPECT_EQ(Sum(bytes), 0xddf2u);
  EXPECT_EQ(InternetChecksum(bytes), static_cast<uint16_t>(~0xddf2));
}

TEST(ChecksumTest, AgreesWithThePlainSumForEveryLengthAndAlignment) {
  RandomStream random(1, "checksum");
  const auto bytes = RandomBytes(random, 200);
  for (size_t start = 0; start < 4; ++start) {
    for (size_t size = 0; size + start <= bytes.size(); ++size) {
      const auto part = ConstBytes(bytes).subspan(start, size);
      ASSERT_EQ(InternetChecksum(part), PlainChecksum(part)) << start << " " << size;
    }
  }
  const std::vector<std::byte> ones(70000, std::byte{0xff});
  EXPECT_EQ(InternetChecksum(ones), PlainChecksum(ones));
}

TEST(ChecksumTest, SumsOfPartsAddUp) {
  RandomStream random(2, "checksum");
  const auto bytes = RandomBytes(random, 101);
  const ConstBytes all(bytes);
  EXPECT_EQ(FinishChecksum(Sum(all.subspan(40), Sum(all.first(40)))), InternetChecksum(all));
}

TEST(ChecksumTest, Rfc1624Example) {
  // The example of RFC 1624 section 4: in a packet with checksum dd2f the word 5555 becomes 3285;
  // the new checksum is 0000.
  EXPECT_EQ(UpdateChecksum(0xdd2f, 0x5555, 0x3285), 0x0000);
}

TEST(ChecksumTest, IncrementalUpdateEqualsComputingAgain) {
  RandomStream random(3, "checksum");
  for (int i = 0; i < 2000; ++i) {
    auto bytes = RandomBytes(random, 20);
    const uint16_t before = InternetChecksum(bytes);
    const size_t word = 2 * random.Below(10);
    const uint16_t old_word = Load16(&bytes[word]);
    const auto new_word = static_cast<uint16_t>(random.Next());
    Store16(&bytes[word], new_word);
    EXPECT_EQ(UpdateChecksum(before, old_word, new_word), InternetChecksum(bytes));
  }
}

TEST(ChecksumTest, UdpChecksumOfAKnownDatagram) {
  auto segment = FromHex("02ba02ba000d0000 68656c6c6f");
  const auto source = IpAddress::Parse("10.0.0.1");
  const auto destination = IpAddress::Parse("10.0.0.255");
  EXPECT_EQ(TransportChecksum(source, destination, ip_protocol::kUdp, segment), 0xa18e);
  EXPECT_FALSE(TransportChecksumIsRight(source, destination, ip_protocol::kUdp, segment));
  Store16(&segment[6], 0xa18e);
  EXPECT_TRUE(TransportChecksumIsRight(source, destination, ip_protocol::kUdp, segment));
}

TEST(ChecksumTest, AUdpChecksumIsNeverZero) {
  // Sets the last payload word so that the sum of the segment is 0xffff, whose inverse is zero.
  auto segment = FromHex("0400040000 0a0000 0000");
  const auto a = IpAddress::Parse("10.0.0.1");
  const auto b = IpAddress::Parse("10.0.0.2");
  const uint16_t plain = TransportChecksum(a, b, ip_protocol::kUdp, segment);
  Store16(&segment[8], plain);
  EXPECT_EQ(TransportChecksum(a, b, ip_protocol::kUdp, segment), 0xffff);
  Store16(&segment[8], 0);
  Store16(&segment[8], TransportChecksum(a, b, ip_protocol::kTcp, segment));
  EXPECT_EQ(TransportChecksum(a, b, ip_protocol::kTcp, segment), 0);
}

TEST(ChecksumTest, CompletesAPartialChecksum) {
  using namespace packet;
  for (const Packet& packet :
       {Ethernet{} / Ipv4{} / Udp{} / Counting(33), Ethernet{} / Ipv6{} / Tcp{} / Counting(64)}) {
    const auto expected = Build(packet);
    auto frame = expected;
    const bool udp = Load16(&frame[12]) == ether_type::kIpv4;
    const size_t start = udp ? 34 : 54;
    const size_t offset = udp ? 6u : 16u;
    const auto ip = udp ? Family::kIpv4 : Family::kIpv6;
    const size_t source = udp ? 26u : 22u;
    const size_t length = frame.size() - start;
    const uint32_t pseudo = PseudoHeaderSum(
        LoadAddress(ip, &frame[source]), LoadAddress(ip, &frame[source + (udp ? 4u : 16u)]),
        udp ? ip_protocol::kUdp : ip_protocol::kTcp, static_cast<uint32_t>(length));
    Store16(&frame[start + offset], static_cast<uint16_t>(pseudo));
    EXPECT_NE(frame, expected);
    EXPECT_TRUE(CompletePartialChecksum(frame, start, offset));
    EXPECT_EQ(Describe(frame), Describe(expected));
    EXPECT_EQ(frame, expected);
  }
}

TEST(ChecksumTest, RefusesAFieldOutsideTheFrame) {
  std::vector<std::byte> frame(60);
  EXPECT_FALSE(CompletePartialChecksum(frame, 60, 0));
  EXPECT_FALSE(CompletePartialChecksum(frame, 50, 9));
  EXPECT_FALSE(CompletePartialChecksum(frame, 65535, 65535));
  EXPECT_EQ(frame, std::vector<std::byte>(60));
  EXPECT_TRUE(CompletePartialChecksum(frame, 50, 8));
}

}  // namespace
}  // namespace viaduct::wire
