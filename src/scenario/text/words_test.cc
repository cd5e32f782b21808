#include "scenario/text/words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace viaduct::scenario {
namespace {

using testing::ElementsAre;

TEST(WordsTest, SplitsAsAShellDoes) {
  EXPECT_THAT(SplitWords("  a  b\tc\n"), ElementsAre("a", "b", "c"));
  EXPECT_THAT(SplitWords(R"('a b' "c d" e\ f)"), ElementsAre("a b", "c d", "e f"));
  EXPECT_THAT(SplitWords(R"("a\"b\\c\d" 'x\y' '' p'q'"r")"),
              ElementsAre(R"(a"b\c\d)", R"(x\y)", "", "pqr"));
  EXPECT_THAT(SplitWords(R"(x#y a~b http://h/\?q)"), ElementsAre("x#y", "a~b", "http://h/?q"));
}

TEST(WordsTest, RefusesWhatOnlyAShellCanDo) {
  for (const char* text : {"a | b", "a > f", "a; b", "a &", "echo $HOME", "`x`", "ls *", "# no",
                           "cd ~", "'open", "\"open", "end\\"}) {
    EXPECT_THROW(SplitWords(text), UsageError) << text;
  }
}

TEST(WordsTest, JoinIsTheInverse) {
  const std::vector<std::string> words = {"a", "b c", "", "it's", "$x", "-n=1"};
  EXPECT_EQ(SplitWords(JoinWords(words)), words);
  EXPECT_EQ(JoinWords({"ping", "-c", "3"}), "ping -c 3");
}

}  // namespace
}  // namespace viaduct::scenario
