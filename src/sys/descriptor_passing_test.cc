#include "sys/descriptor_passing.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <vector>

namespace viaduct::sys {
namespace {

TEST(DescriptorPassingTest, AsManyAsTheKernelTakesAndNoMore) {
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
