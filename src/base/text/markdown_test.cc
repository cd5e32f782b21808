#include "base/text/markdown.h"

#include <gtest/gtest.h>

namespace viaduct {
namespace {

TEST(MarkdownTest, ACellIsOneLineWithoutBars) {
  EXPECT_EQ(TableCell(""), "");
  EXPECT_EQ(TableCell("a | b"), "a \\| b");
  EXPECT_EQ(TableCell("one\n      two\n\n  three"), "one two three");
}

}  // namespace
}  // namespace viaduct
