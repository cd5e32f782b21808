// Tests processes of a lab. Needs root, to enter a namespace.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <utility>

#include "base/error.h"
#include "lab/broker/lab_process.h"
#include "sys/descriptors.h"
#include "sys/network/netns.h"

namespace viaduct::broker {
namespace {

// The process hangs, like a process that reads a user's file without end.
TEST(LabProcessTest, OneThatHangsIsEndedWhenNobodyWaitsForIt) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to enter a namespace";
  auto [ours, theirs] = sys::MakeSocketPair(SOCK_SEQPACKET);
  const UniqueFd network = sys::OpenCurrentNamespace();
  LabProcess process;
  process.title = "hangs";
  process.what = "path engine";
  process.namespace_fd = network.get();
  process.asker = ours.get();
  theirs.reset();
  try {
    StartLabProcess(process, {getuid(), getgid()}, [](const auto&) {
      while (true) pause();
    });
    FAIL() << "it has started";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "the path engine was cancelled before it started");
  }
}

}  // namespace
}  // namespace viaduct::broker
