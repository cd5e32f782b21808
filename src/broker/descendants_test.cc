#include "broker/descendants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace viaduct::broker {
namespace {

TEST(ParseParent, ReadsPastAnyName) {
  EXPECT_EQ(ParseParent("17 (ping) S 4 17 17 0"), 4);
  EXPECT_EQ(ParseParent("17 (a) S 9) R 4 17 17 0"), 4);
}

TEST(ParseParent, RefusesOtherText) {
  EXPECT_EQ(ParseParent(""), 0);
  EXPECT_EQ(ParseParent("17 (ping)"), 0);
  EXPECT_EQ(ParseParent("17 (ping) S"), 0);
  EXPECT_EQ(ParseParent("17 (ping) S x 3"), 0);
}

TEST(Descendants, FindsChildrenAndGrandchildren) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const int child = fork();
  if (child == 0) {
    close(ends[1]);
    const int grandchild = fork();
    char byte;
    while (read(ends[0], &byte, 1) > 0) {
    }
    if (grandchild > 0) waitpid(grandchild, nullptr, 0);
    _exit(0);
  }
  close(ends[0]);
  std::vector<int> found;
  while (found.size() < 2) found = Descendants();
  EXPECT_THAT(found, testing::SizeIs(2));
  EXPECT_EQ(found.front(), child);
  close(ends[1]);
  waitpid(child, nullptr, 0);
}

}  // namespace
}  // namespace viaduct::broker
