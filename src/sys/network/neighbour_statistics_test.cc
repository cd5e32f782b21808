#include "sys/network/neighbour_statistics.h"

#include <gtest/gtest.h>

namespace viaduct::sys {
namespace {

TEST(NeighbourStatistics, AColumnIsSummedOverTheProcessors) {
  constexpr char kText[] =
      "entries  allocs   res_failed unresolved_discards table_fulls\n"
      "00000006 000011fb 0000000c   0000018b            00000000\n"
      "00000006 00001000 00000001   000000ff            00000001\n";
  EXPECT_EQ(SumOfColumn(kText, "unresolved_discards"), 0x18bU + 0xffU);
  EXPECT_EQ(SumOfColumn(kText, "entries"), 12U);
  EXPECT_EQ(SumOfColumn(kText, "table_fulls"), 1U);
}

TEST(NeighbourStatistics, WhatIsNotThereIsNotZero) {
  EXPECT_EQ(SumOfColumn("", "unresolved_discards"), std::nullopt);
  EXPECT_EQ(SumOfColumn("entries  allocs\n00000006 00000001\n", "unresolved_discards"),
            std::nullopt);
}

}  // namespace
}  // namespace viaduct::sys
