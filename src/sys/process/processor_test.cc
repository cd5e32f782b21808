#include "sys/process/processor.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <string>
#include <vector>

#include "base/error.h"

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
    // Takes each lease while this thread may run on any processor.
    auto lease = ProcessorLease::Take();
    if (!lease) break;
    for (const auto& other : leases) EXPECT_NE(other.processor(), lease->processor());
    leases.push_back(std::move(*lease));
  }
  // The second lease finds no processor, because a thread with a lease may use no other processor.
  EXPECT_LE(leases.size(), 1u);
  EXPECT_FALSE(ProcessorLease::Take().has_value());
}

cpu_set_t Allowed() {
  cpu_set_t set;
  SystemCall("sched_getaffinity", sched_getaffinity(0, sizeof set, &set));
  return set;
}

TEST(ThreadPolicy, ReadsListsOfProcessors) {
  cpu_set_t set = ParseProcessors("0,2-4");
  EXPECT_EQ(CPU_COUNT(&set), 4);
  EXPECT_TRUE(CPU_ISSET(0, &set) && CPU_ISSET(2, &set) && CPU_ISSET(4, &set));
  set = ParseProcessors("7");
  EXPECT_EQ(CPU_COUNT(&set), 1);
  for (const char* wrong : {"", "x", "1,", "-1", "3-1", "1-", "99999", "1 2"}) {
    EXPECT_THROW(ParseProcessors(wrong), UsageError) << wrong;
  }
}

TEST(ThreadPolicy, BindsAndRestores) {
  const cpu_set_t before = Allowed();
  int first = 0;
  while (!CPU_ISSET(first, &before)) ++first;
  {
    const ThreadPolicyScope scope({.processors = std::to_string(first)});
    const cpu_set_t bound = Allowed();
    EXPECT_EQ(CPU_COUNT(&bound), 1);
    EXPECT_TRUE(CPU_ISSET(first, &bound));
  }
  const cpu_set_t after = Allowed();
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

TEST(ThreadPolicy, RefusesWithAReasonAndLeavesNothing) {
  const cpu_set_t before = Allowed();
  int first = 0;
  while (!CPU_ISSET(first, &before)) ++first;
  try {
    // Sets a priority that does not exist, 1000.
    const ThreadPolicyScope scope({.processors = std::to_string(first), .fifo_priority = 1000});
    FAIL();
  } catch (const SystemError& error) {
    EXPECT_NE(std::string(error.what()).find("SCHED_FIFO"), std::string::npos) << error.what();
  }
  const cpu_set_t after = Allowed();
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
  EXPECT_THROW(ThreadPolicyScope({.processors = "1023"}), SystemError);
}

TEST(ThreadPolicy, NothingAskedNothingChanged) {
  const ThreadPolicyScope scope({});
  EXPECT_EQ(sched_getscheduler(0), SCHED_OTHER);
}

}  // namespace
}  // namespace viaduct::sys
