#include "path/model/corruption.h"

#include <gtest/gtest.h>

#include <vector>

#include "path/test_statistics.h"

namespace viaduct::path {
namespace {

// How often each bit of a frame of `bytes` bytes is flipped in `frames` frames.
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

}  // namespace
}  // namespace viaduct::path
