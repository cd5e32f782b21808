#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <csignal>

#include "base/error.h"
#include "base/wait_status.h"
#include "sys/descriptors.h"
#include "sys/machine/namespace_id.h"
#include "sys/network/netns.h"
#include "sys/process/child.h"
#include "sys/process/process.h"

namespace viaduct::sys {
namespace {

// Starts a process that stays in the namespace until it ends.
Child Inhabitant(int namespace_fd) {
  Pipe ready = MakePipe();
  const pid_t pid = fork();
  if (pid == 0) {
    signal(SIGTERM, SIG_IGN);
    const bool inside = setns(namespace_fd, CLONE_NEWNET) == 0;
    ready.read.reset();
    ready.write.reset();
    if (inside) {
      while (true) pause();
    }
    ExitForked(1);
  }
  ready.write.reset();
  char byte;
  (void)!read(ready.read.get(), &byte, sizeof byte);
  return Child(pid);
}

TEST(NamespaceIdTest, FindsItsOwn) {
  const NamespaceId own = IdentifyNamespace(OpenCurrentNamespace().get());
  const UniqueFd found = FindNamespace(own);
  ASSERT_TRUE(found);
  EXPECT_EQ(NamespaceInode(found.get()), own.inode);
}

TEST(NamespaceIdTest, FindsWhatAProcessIsInUntilItEnds) {
  UniqueFd made = CreateNamelessNamespace();
  const NamespaceId id = IdentifyNamespace(made.get());
  Child inhabitant = Inhabitant(made.get());
  made.reset();
  const UniqueFd found = FindNamespace(id);
  ASSERT_TRUE(found);
  EndProcessesIn({id.inode}, Duration::Milliseconds(10));
  EXPECT_EQ(ShellStatus(inhabitant.Wait()), 128 + SIGKILL);
  EXPECT_FALSE(FindNamespace(id));
}

TEST(NamespaceIdTest, FindsWhatHasAName) {
  const std::string name = "nid" + std::to_string(getpid());
  CreateNamespace(name);
  const NamespaceId id = IdentifyNamespace(OpenNamespace(name).get());
  EXPECT_TRUE(FindNamespace(id));
  const auto mounts = MountsOfNamespace(id.inode);
  ASSERT_FALSE(mounts.empty());
  EXPECT_EQ(mounts.front().path, NamespacePath(name));
  DeleteNamespace(name);
  EXPECT_FALSE(FindNamespace(id));
}

TEST(NamespaceIdTest, AReusedNumberIsAnotherNamespace) {
  NamespaceId other = IdentifyNamespace(OpenCurrentNamespace().get());
  if (other.cookie == 0) GTEST_SKIP() << "this kernel has no cookies";
  ++other.cookie;
  EXPECT_FALSE(FindNamespace(other));
}

}  // namespace
}  // namespace viaduct::sys
