#include "base/text/edit_distance.h"

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

TEST(EditDistanceTest, NamesTheNearestWordThatIsLikeIt) {
  const std::vector<std::string> known = {"delay", "rate", "queue"};
  EXPECT_EQ(Nearest("dely", known), "delay");
  EXPECT_EQ(Nearest("raet", known), "rate");
  EXPECT_EQ(Nearest("speed", known), "");
  EXPECT_EQ(Nearest("delay", {}), "");
  EXPECT_EQ(DidYouMean("queu", known), "; did you mean 'queue'?");
  EXPECT_EQ(DidYouMean("bandwidth", known), "");
}

}  // namespace
}  // namespace viaduct
