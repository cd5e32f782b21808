#include "path/live/path_keeper.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace viaduct::path {
namespace {

TEST(PathKeeperTest, NamesThatCouldCommandATerminalAreRefused) {
  const auto decode = [](const std::string& pair) {
    return DecodePath({{"interfaces", {"a", "b"}}, {"pairs", {pair}}, {"name", "x"}});
  };
  EXPECT_EQ(decode("a-b").pairs.front(), "a-b");
  for (const char* name : {"a-\x1b[31m", "a\nb", "\u009b31m", "\x7f"}) {
    EXPECT_THROW(decode(name), UsageError) << name;
  }
}

}  // namespace
}  // namespace viaduct::path
