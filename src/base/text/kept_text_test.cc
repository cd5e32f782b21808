#include "base/text/kept_text.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace viaduct {
namespace {

TEST(KeptTextTest, KeepsAllThatFits) {
  KeptText text(8);
  EXPECT_EQ(text.Text(), "");
  for (const char* part : {"ab", "cdef", "", "gh"}) text.Append(part);
  EXPECT_EQ(text.Text(), "abcdefgh");
}

TEST(KeptTextTest, KeepsBeginningAndEnd) {
  KeptText text(8);
  text.Append("abcdefghi");
  EXPECT_EQ(text.Text(), "abcd\n[1 bytes omitted here]\nfghi");
  for (const char c : std::string("jklmnopqrstuvwxyz")) text.Append(std::string(1, c));
  EXPECT_EQ(text.Text(), "abcd\n[18 bytes omitted here]\nwxyz");
}

TEST(KeptTextTest, TheOutputOfADayIsBounded) {
  constexpr size_t kMost = 16 << 20;
  KeptText text(kMost);
  // Writes ten lines a second for a day.
  for (int i = 0; i < 864'000; ++i) text.Append(fmt::format("{:099}\n", i));
  const std::string kept = text.Text();
  EXPECT_LE(kept.size(), kMost + 64);
  EXPECT_THAT(kept, testing::StartsWith("000"));
  EXPECT_THAT(kept, testing::EndsWith("00863999\n"));
  EXPECT_THAT(kept, testing::HasSubstr(fmt::format("[{} bytes omitted", 86'400'000 - kMost)));
}

}  // namespace
}  // namespace viaduct
