#include "sys/machine/container.h"

#include <gtest/gtest.h>

namespace viaduct::sys {
namespace {

TEST(ContainerTest, WhatInspectPrintsIsAPidOrNothing) {
  EXPECT_EQ(ParseInspectedPid("4711\n"), 4711);
  EXPECT_EQ(ParseInspectedPid("0\n"), 0);
  EXPECT_EQ(ParseInspectedPid("WARN[0000] \"/\" is not a shared mount\n4711\n"), 4711);
  for (const char* text : {"", "\n", "-1\n", "4711 4712\n", "[]\n", "99999999999\n", "4711x"}) {
    EXPECT_FALSE(ParseInspectedPid(text)) << text;
  }
}

TEST(ContainerTest, PidsAndNothingStayAsTheyAre) {
  EXPECT_EQ(ResolveContainer("", "--into"), "");
  EXPECT_EQ(ResolveContainer("4711", "--into"), "4711");
}

}  // namespace
}  // namespace viaduct::sys
