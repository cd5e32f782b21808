#include "base/result/gaps.h"

#include <gtest/gtest.h>

#include <numeric>

namespace viaduct::result {
namespace {

using Gaps = std::vector<Gap>;

TEST(GapFinderTest, FindsThemAtBeginMiddleAndEnd) {
  GapFinder finder;
  EXPECT_EQ(finder.Find(0), Gaps());
  EXPECT_EQ(finder.Find(3), (Gaps{{0, std::nullopt, 0, 3}}));
  finder.Arrived(2, 0.2);
  finder.Arrived(3, 0.3);
  finder.Arrived(7, 0.7);
  EXPECT_EQ(finder.Find(8), (Gaps{{0, 0.2, 0, 2}, {0.3, 0.7, 4, 3}}));
  EXPECT_EQ(finder.Find(10), (Gaps{{0, 0.2, 0, 2}, {0.3, 0.7, 4, 3}, {0.7, std::nullopt, 8, 2}}));
}

TEST(GapFinderTest, LatePacketsCloseAndDivide) {
  GapFinder finder;
  finder.Arrived(0, 0);
  finder.Arrived(6, 0.6);
  finder.Arrived(3, 0.3);
  EXPECT_EQ(finder.Find(7), (Gaps{{0, 0.3, 1, 2}, {0.3, 0.6, 4, 2}}));
  finder.Arrived(3, 0.3);  // a duplicate of packet 3
  finder.Arrived(0, 0);
  for (const int late : {1, 2, 5}) finder.Arrived(late, late / 10.0);
  EXPECT_EQ(finder.Find(7), (Gaps{{0.3, 0.5, 4, 1}}));
  finder.Arrived(4, 0.4);
  EXPECT_EQ(finder.Find(7), Gaps());
}

TEST(GapFinderTest, TheLongOnesStay) {
  GapFinder finder;
  double time = 0;
  uint64_t number = 0, lost = 0;
  for (int i = 0; i < 10000; ++i) {
    const bool long_one = i % 100 == 50;
    number += long_one ? 11 : 2;
    lost += long_one ? 10 : 1;
    finder.Arrived(number, time += long_one ? 1 : 0.01);
  }
  const Gaps found = finder.Find(number + 1);
  EXPECT_LE(found.size(), GapFinder::kMost);
  EXPECT_EQ(std::ranges::count(found, 10, &Gap::lost), 100);
  const uint64_t listed =
      std::accumulate(found.begin(), found.end(), uint64_t{0},
                      [](uint64_t sum, const Gap& gap) { return sum + gap.lost; });
  EXPECT_EQ(listed + finder.omitted(), lost + 1);  // + 1: packet 0, which never arrived
}

TEST(GapFinderTest, ManyOfOneLengthStayBounded) {
  GapFinder finder;
  for (uint64_t i = 0; i < 100000; ++i) finder.Arrived(2 * i, static_cast<double>(i));
  EXPECT_LE(finder.Find(200000).size(), GapFinder::kMost + 1);
}

}  // namespace
}  // namespace viaduct::result
