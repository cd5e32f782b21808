#include "path/model/bit_errors.h"

#include <gtest/gtest.h>

#include <vector>

#include "path/test_statistics.h"

namespace viaduct::path {
namespace {

constexpr uint32_t kHeader = 14;

struct Hits {
  uint64_t flipped = 0;      // sum of the return values of Flip()
  uint64_t frames = 0;       // frames with bit errors
  std::vector<uint64_t> at;  // number of flips of each bit of a frame
};

Hits SendFrames(BitErrorSpec spec, uint32_t bytes, int frames) {
  RandomStream random(5, "ber");
  BitErrors errors(spec, random);
  Hits hits;
  hits.at.resize(size_t{bytes} * 8);
  for (int i = 0; i < frames; ++i) {
    if (!errors.Hit(bytes)) continue;
    ++hits.frames;
    std::vector<std::byte> frame(bytes);
    hits.flipped += errors.Flip(frame, random);
    for (size_t bit = 0; bit < hits.at.size(); ++bit) {
      hits.at[bit] += std::to_integer<uint64_t>(frame[bit / 8] >> (bit % 8)) & 1;
    }
  }
  return hits;
}

uint64_t Total(const Hits& hits) {
  return std::accumulate(hits.at.begin(), hits.at.end(), uint64_t{0});
}

TEST(BitErrorsTest, FlipsAsManyBitsAsAskedAndSaysSo) {
  for (const double rate : {1e-5, 1e-3, 0.1, 0.5}) {
    const Hits hits = SendFrames({rate}, 114, 20000);
    const double bits = 20000.0 * 100 * 8;
    EXPECT_EQ(hits.flipped, Total(hits));
    EXPECT_NEAR(static_cast<double>(hits.flipped), bits * rate, test::BinomialBound(bits, rate));
    const double hit = -std::expm1(100 * 8 * std::log1p(-rate));
    EXPECT_NEAR(static_cast<double>(hits.frames), 20000 * hit, test::BinomialBound(20000, hit));
  }
}

TEST(BitErrorsTest, HitsEveryBitBehindTheHeaderAlike) {
  const Hits hits = SendFrames({1e-3}, 54, 300000);
  for (size_t bit = 0; bit < kHeader * 8; ++bit) EXPECT_EQ(hits.at[bit], 0U);
  const std::vector<uint64_t> behind(hits.at.begin() + kHeader * 8, hits.at.end());
  const auto chi_square =
      test::CompareBins(behind, std::vector<double>(behind.size(), 1.0 / behind.size()));
  EXPECT_LT(chi_square.value, chi_square.Bound());
}

TEST(BitErrorsTest, MayHitTheHeaderToo) {
  const Hits hits = SendFrames({1e-3, true}, 54, 100000);
  const auto chi_square =
      test::CompareBins(hits.at, std::vector<double>(hits.at.size(), 1.0 / hits.at.size()));
  EXPECT_LT(chi_square.value, chi_square.Bound());
}

// The distance to the next error continues from one frame to the next, regardless of their lengths.
TEST(BitErrorsTest, TheRateDoesNotDependOnTheFramesLength) {
  for (const uint32_t bytes : {15U, 60U, 1514U}) {
    const int frames = static_cast<int>(4000000 / (bytes - kHeader));
    const double bits = static_cast<double>(frames) * (bytes - kHeader) * 8;
    EXPECT_NEAR(static_cast<double>(SendFrames({1e-4}, bytes, frames).flipped), bits * 1e-4,
                test::BinomialBound(bits, 1e-4));
  }
}

TEST(BitErrorsTest, TheExtremes) {
  EXPECT_EQ(SendFrames({0, true}, 100, 1000).flipped, 0U);
  EXPECT_EQ(SendFrames({1}, 100, 3).flipped, 3U * 86 * 8);
  EXPECT_EQ(SendFrames({1}, 10, 3).flipped, 0U);  // the frame is shorter than a header
}

}  // namespace
}  // namespace viaduct::path
