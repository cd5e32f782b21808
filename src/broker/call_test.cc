#include "broker/call.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>

#include "base/error.h"
#include "sys/descriptors.h"
#include "sys/event_loop.h"
#include "sys/signals.h"

namespace viaduct::broker {
namespace {

using testing::HasSubstr;

// The other end of the connection is open, and says nothing.
class SilentTest : public testing::Test {
 protected:
  Caller Ask() { return Caller({std::move(ends_.first), 0}, "it has ended"); }

  std::pair<UniqueFd, UniqueFd> ends_ = sys::MakeSocketPair(SOCK_SEQPACKET);
};

TEST_F(SilentTest, IsNotWaitedForLongerThanTheLimit) {
  Caller caller = Ask();
  caller.LimitWaiting(Duration::Milliseconds(1));
  try {
    caller.CallJson(MessageType::kDescribe, nlohmann::json::object());
    FAIL() << "there was an answer";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("does not answer within 1ms"));
    EXPECT_THAT(error.what(), HasSubstr(std::to_string(getpid()))) << "who made the sockets";
  }
  // Its answer would be taken for that of the next question.
  EXPECT_THROW(caller.CallJson(MessageType::kDescribe, nlohmann::json::object()), Error);
  ends_.second.reset();
}

TEST_F(SilentTest, ASignalThatIsBlockedEndsTheWait) {
  const sigset_t set = sys::SignalSet({SIGTERM});
  sigset_t before;
  ASSERT_EQ(pthread_sigmask(SIG_BLOCK, &set, &before), 0);
  Caller caller = Ask();
  caller.LimitWaiting(std::nullopt);
  ASSERT_EQ(kill(getpid(), SIGTERM), 0);
  try {
    caller.CallJson(MessageType::kDescribe, nlohmann::json::object());
    FAIL() << "there was an answer";
  } catch (const sys::Interrupted& interrupted) {
    EXPECT_EQ(interrupted.signal(), SIGTERM);
  }
  ends_.second.reset();
  ASSERT_EQ(pthread_sigmask(SIG_SETMASK, &before, nullptr), 0);
}

}  // namespace
}  // namespace viaduct::broker
