#include "base/text/terminal_text.h"

#include <gtest/gtest.h>

namespace viaduct {
namespace {

TEST(TerminalTextTest, ShowsControlCharactersInsteadOfSendingThem) {
  EXPECT_EQ(TerminalText("a\x1b[31mb\x07\x7f"), "a\\x1b[31mb\\x07\\x7f");
  EXPECT_EQ(TerminalText(std::string_view("\0", 1)), "\\x00");
}

TEST(TerminalTextTest, ShowsThoseOfUtf8Too) {
  EXPECT_EQ(TerminalText("a\u009b31mb\u00a0\u00c2"), "a\\x9b31mb\u00a0\u00c2");
  EXPECT_EQ(TerminalText("\xc2"), "\xc2");
}

TEST(TerminalTextTest, APartOfALineHasNoLineEnds) {
  EXPECT_EQ(TerminalLine("a\tb\nc\x1b"), "a\\x09b\\x0ac\\x1b");
}

TEST(TerminalTextTest, KeepsText) {
  EXPECT_EQ(TerminalText(""), "");
  EXPECT_EQ(TerminalText("one\ttwo\nth\u00e9"), "one\ttwo\nth\u00e9");
}

}  // namespace
}  // namespace viaduct
