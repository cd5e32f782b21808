#include "base/terminal_text.h"

#include <gtest/gtest.h>

namespace viaduct {
namespace {

TEST(TerminalTextTest, ShowsControlCharactersInsteadOfSendingThem) {
  EXPECT_EQ(TerminalText("a\x1b[31mb\x07\x7f"), "a\\x1b[31mb\\x07\\x7f");
  EXPECT_EQ(TerminalText(std::string_view("\0", 1)), "\\x00");
}

TEST(TerminalTextTest, KeepsText) {
  EXPECT_EQ(TerminalText(""), "");
  EXPECT_EQ(TerminalText("one\ttwo\nth\u00e9"), "one\ttwo\nth\u00e9");
}

}  // namespace
}  // namespace viaduct
