#include "sys/processor.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <vector>

namespace viaduct::sys {
namespace {

int Usable() {
  cpu_set_t set;
  EXPECT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
  return CPU_COUNT(&set);
}

TEST(ProcessorLease, HoldsTheThreadToOneProcessor) {
  const int before = Usable();
  {
    const auto lease = ProcessorLease::Take();
    if (!lease) GTEST_SKIP() << "other processes have leased every processor";
    EXPECT_EQ(Usable(), 1);
    EXPECT_EQ(sched_getcpu(), lease->processor());
  }
  EXPECT_EQ(Usable(), before);
}

TEST(ProcessorLease, IsNeverGivenTwice) {
  const int before = Usable();
  std::vector<ProcessorLease> leases;
  for (int i = 0; i <= before; ++i) {
    // Each lease is taken while this thread may run on any processor.
    auto lease = ProcessorLease::Take();
    if (!lease) break;
    for (const auto& other : leases) EXPECT_NE(other.processor(), lease->processor());
    leases.push_back(std::move(*lease));
  }
  // A leased thread may use no other processor: the second finds none.
  EXPECT_LE(leases.size(), 1u);
  EXPECT_FALSE(ProcessorLease::Take().has_value());
}

}  // namespace
}  // namespace viaduct::sys
