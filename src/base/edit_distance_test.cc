#include "base/edit_distance.h"

#include <gtest/gtest.h>

namespace viaduct {
namespace {

TEST(EditDistanceTest, CountsWhatMustChange) {
  EXPECT_EQ(EditDistance("delay", "delay"), 0U);
  EXPECT_EQ(EditDistance("", "loss"), 4U);
  EXPECT_EQ(EditDistance("dely", "delay"), 1U);
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3U);
  EXPECT_EQ(EditDistance("sitting", "kitten"), 3U);
  EXPECT_EQ(EditDistance("ab", "ba"), 2U);
}

}  // namespace
}  // namespace viaduct
