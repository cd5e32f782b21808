#include "path/model/corruption.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "base/wire/test/packet_builder.h"
#include "path/test_statistics.h"

namespace viaduct::path {
namespace {

// Returns the number of flips of each bit of a frame of `bytes` bytes in `frames` frames.
std::vector<uint64_t> Flips(const Corruption& corruption, size_t bytes, int frames) {
  RandomStream random(3, "corrupt");
  std::vector<uint64_t> at(bytes * 8);
  for (int i = 0; i < frames; ++i) {
    std::vector<std::byte> frame(bytes);
    EXPECT_EQ(corruption.Flip(frame, random), 1U);
    for (size_t bit = 0; bit < at.size(); ++bit) {
      at[bit] += std::to_integer<uint64_t>(frame[bit / 8] >> (bit % 8)) & 1;
    }
  }
  return at;
}

void ExpectUniform(const std::vector<uint64_t>& counts) {
  const auto chi_square =
      test::CompareBins(counts, std::vector<double>(counts.size(), 1.0 / counts.size()));
  EXPECT_LT(chi_square.value, chi_square.Bound());
}

TEST(CorruptionTest, FlipsOneBitAndEachBehindTheHeaderAlike) {
  const auto at = Flips(ParseCorruption("100%"), 54, 200000);
  EXPECT_EQ(std::accumulate(at.begin(), at.end(), uint64_t{0}), 200000U);
  EXPECT_EQ(std::accumulate(at.begin(), at.begin() + 14 * 8, uint64_t{0}), 0U);
  ExpectUniform({at.begin() + 14 * 8, at.end()});
}

TEST(CorruptionTest, MayHitTheHeaderToo) {
  ExpectUniform(Flips(ParseCorruption("100%:header"), 54, 200000));
}

TEST(CorruptionTest, AFrameWithoutBitsBehindItsHeaderIsNotHit) {
  RandomStream random(3, "corrupt");
  std::vector<std::byte> frame(14);
  EXPECT_EQ(ParseCorruption("100%").Flip(frame, random), 0U);
  EXPECT_EQ(ParseCorruption("100%:header").Flip(frame, random), 1U);
  frame.clear();
  EXPECT_EQ(ParseCorruption("100%:header").Flip(frame, random), 0U);
}

// The test expects that the frame with the fixed checksum differs from the original only by one bit
// of the payload; the description of the frame includes the state of the checksum.
TEST(CorruptionTest, AFixedChecksumIsRight) {
  namespace p = wire::packet;
  const Corruption corruption = ParseCorruption("100%:checksum=fix");
  RandomStream random(3, "corrupt");
  const std::string odd(33, 'x');
  for (const auto& sent :
       {p::Ethernet{} / p::Ipv4{} / p::Udp{} / p::Payload{odd},
        p::Ethernet{} / p::Vlan{.id = 5} / p::Ipv4{} / p::Tcp{} / p::Payload{odd},
        p::Ethernet{} / p::Ipv6{} / p::Udp{} / p::Payload{odd},
        p::Ethernet{} / p::Ipv6{} / p::Tcp{} / p::Payload{odd}}) {
    const auto original = p::Build(sent);
    std::vector<uint64_t> at(odd.size() * 8);
    for (int i = 0; i < 60000; ++i) {
      auto frame = original;
      ASSERT_EQ(corruption.Flip(frame, random), 1U);
      if (i < 300) {
        ASSERT_EQ(p::Describe(frame), p::Describe(original));
        ASSERT_THAT(p::Describe(frame), testing::HasSubstr("checksum good"));
      }
      const wire::ConstBytes damaged = p::PayloadOf(frame), whole = p::PayloadOf(original);
      for (size_t bit = 0; bit < at.size(); ++bit) {
        at[bit] += std::to_integer<uint64_t>((damaged[bit / 8] ^ whole[bit / 8]) >> (bit % 8)) & 1;
      }
    }
    EXPECT_EQ(std::accumulate(at.begin(), at.end(), uint64_t{0}), 60000U);
    ExpectUniform(at);
  }
}

TEST(CorruptionTest, AFixedChecksumNeedsAPayload) {
  namespace p = wire::packet;
  const Corruption corruption = ParseCorruption("100%:checksum=fix");
  RandomStream random(3, "corrupt");
  for (const auto& sent :
       {p::Ethernet{} / p::Arp{}, p::Ethernet{} / p::Ipv4{} / p::Tcp{},
        p::Ethernet{} / p::Ipv4{} / p::Icmp{} / p::Payload{"ping"},
        p::Ethernet{} / p::Ipv4{.more_fragments = true} / p::Udp{} / p::Payload{"first"},
        p::Ethernet{} / p::Ipv4{.fragment_offset = 8, .protocol = 17} / p::Payload{"later one"},
        p::Ethernet{} / p::Ipv4{.protocol = 132} / p::Payload{"an SCTP packet"}}) {
    const auto original = p::Build(sent);
    auto frame = original;
    EXPECT_EQ(corruption.Flip(frame, random), 0U) << p::Describe(original);
    EXPECT_EQ(frame, original);
  }
}

}  // namespace
}  // namespace viaduct::path
