#include "sys/descriptors.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <vector>

#include "base/file.h"
#include "base/wait_status.h"
#include "sys/ipc/descriptor_passing.h"
#include "sys/process/child.h"
#include "sys/process/process.h"

namespace viaduct::sys {
namespace {

bool IsOpen(int fd) { return fcntl(fd, F_GETFD) >= 0; }

// Runs `work` in a forked process and returns its exit status.
int StatusOf(const std::function<int()>& work) {
  const pid_t child = fork();
  if (child == 0) ExitForked(work());
  return ShellStatus(AwaitChild(child));
}

TEST(DescriptorsTest, PipesAndSocketsAreConnectedAndCloseOnExec) {
  Pipe pipe = MakePipe();
  WriteAll(pipe.write.get(), "text", "pipe");
  pipe.write.reset();
  EXPECT_EQ(ReadToEnd(pipe.read.get(), "pipe"), "text");
  EXPECT_EQ(fcntl(pipe.read.get(), F_GETFD), FD_CLOEXEC);
  const auto [a, b] = MakeSocketPair(SOCK_SEQPACKET);
  WriteAll(a.get(), "x", "socket");
  char byte;
  EXPECT_EQ(read(b.get(), &byte, 1), 1);
}

TEST(DescriptorsTest, NonBlockingOnesDoNotWait) {
  const Pipe pipe = MakePipe();
  SetNonBlocking(pipe.read.get());
  char byte;
  EXPECT_EQ(read(pipe.read.get(), &byte, 1), -1);
  EXPECT_EQ(errno, EAGAIN);
}

TEST(DescriptorsTest, AllOthersAreClosed) {
  const Pipe kept = MakePipe(), other = MakePipe();
  const int late = fcntl(other.read.get(), F_DUPFD, 200);
  EXPECT_EQ(StatusOf([&] {
              CloseAllBut({kept.write.get(), kept.read.get(), 0});
              const bool right = IsOpen(0) && IsOpen(2) && IsOpen(kept.read.get()) &&
                                 IsOpen(kept.write.get()) && !IsOpen(other.read.get()) &&
                                 !IsOpen(other.write.get()) && !IsOpen(late);
              return right ? 0 : 1;
            }),
            0);
  close(late);
}

TEST(DescriptorsTest, InheritedOnesAreClosed) {
  const Pipe own = MakePipe();
  const int inherited = fcntl(own.read.get(), F_DUPFD, 200);
  EXPECT_EQ(StatusOf([&] {
              CloseInherited();
              return IsOpen(2) && IsOpen(own.read.get()) && !IsOpen(inherited) ? 0 : 1;
            }),
            0);
  close(inherited);
}

TEST(DescriptorsTest, DroppedStreamsAreEmpty) {
  EXPECT_EQ(StatusOf([] {
              DropStandardStreams();
              char byte;
              return read(0, &byte, 1) == 0 && write(1, "x", 1) == 1 && write(2, "x", 1) == 1 ? 0
                                                                                              : 1;
            }),
            0);
}

TEST(DescriptorsTest, PassedInAMessageAsManyAsTheKernelTakesAndNoMore) {
  std::array<int, 2> ends{};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()), 0);
  const UniqueFd sender(ends[0]), receiver(ends[1]);
  const UniqueFd some(open("/dev/null", O_RDONLY | O_CLOEXEC));
  std::array<std::byte, 8> bytes{};
  for (const size_t count : {size_t{0}, size_t{1}, kMaxPassedDescriptors}) {
    const std::vector<int> passed(count, some.get());
    ASSERT_EQ(SendWithDescriptors(sender.get(), bytes, passed), 8) << count;
    std::vector<UniqueFd> got;
    const ReceivedMessage message = ReceiveWithDescriptors(receiver.get(), bytes, got, 0);
    EXPECT_EQ(message.length, 8);
    EXPECT_FALSE(message.truncated);
    EXPECT_EQ(got.size(), count);
  }
  const std::vector<int> too_many(kMaxPassedDescriptors + 1, some.get());
  EXPECT_EQ(SendWithDescriptors(sender.get(), bytes, too_many), -1);
  EXPECT_EQ(errno, EINVAL);
}

}  // namespace
}  // namespace viaduct::sys
