#include "sys/ipc/caller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "base/clock.h"
#include "base/error.h"
#include "sys/descriptors.h"
#include "sys/event_loop.h"
#include "sys/ipc/answer.h"
#include "sys/ipc/test_service.h"
#include "sys/signals.h"

namespace viaduct::ipc {
namespace {

using test::kTalk;
using testing::HasSubstr;

constexpr Code kDescribe(kFirstRequest);

// A connection whose other end is open and sends nothing.
class SilentTest : public testing::Test {
 protected:
  Caller Ask() { return Caller(std::move(ends_.first), 0, kTalk, "it has ended"); }

  std::pair<UniqueFd, UniqueFd> ends_ = sys::MakeSocketPair(SOCK_SEQPACKET);
};

TEST_F(SilentTest, IsNotWaitedForLongerThanTheLimit) {
  Caller caller = Ask();
  caller.LimitWaiting(Duration::Milliseconds(1));
  try {
    caller.CallJson(kDescribe);
    FAIL() << "there was an answer";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("does not answer within 1ms"));
    EXPECT_THAT(error.what(), HasSubstr(std::to_string(getpid()))) << "who made the sockets";
  }
  // The next call throws: a late answer would be taken for the answer to the next request.
  EXPECT_THROW(caller.CallJson(kDescribe), Error);
  ends_.second.reset();
}

// A service that answers each request with the same payload.
class Parrot {
 public:
  Parrot(UniqueFd connection, Answer answer, std::string payload)
      : thread_(
            [connection = std::move(connection), answer, payload = std::move(payload)]() mutable {
              Connection end(std::move(connection), kTalk);
              Message request;
              while (end.Receive(&request) == Connection::Status::kMessage) {
                end.Send(answer, request.sequence, payload);
              }
            }) {}
  ~Parrot() { thread_.join(); }
  Parrot(const Parrot&) = delete;
  Parrot& operator=(const Parrot&) = delete;

 private:
  std::thread thread_;
};

TEST_F(SilentTest, AMalformedAnswerIsTheServicesFault) {
  for (const auto& [answer, payload] :
       {std::pair(Answer::kReply, "{{{"), std::pair(Answer::kReply, "[1]"),
        std::pair(Answer::kError, "{{{"), std::pair(Answer::kError, "{\"message\": 1}"),
        std::pair(Answer::kError, "{\"message\": \"m\", \"status\": \"2\"}")}) {
    auto ends = sys::MakeSocketPair(SOCK_SEQPACKET);
    const Parrot parrot(std::move(ends.second), answer, payload);
    Caller caller(std::move(ends.first), 0, kTalk, "it has ended");
    EXPECT_THROW(caller.CallJson(kDescribe), ProtocolError) << payload;
  }
  EXPECT_THROW(AnswerMember<int>(kTalk, {{"pid", "1"}}, "pid"), ProtocolError);
  EXPECT_THROW(AnswerMember<int>(kTalk, nlohmann::json::object(), "pid"), ProtocolError);
}

// A client of a silent service in a process in which SIGTERM is blocked and pending.
class InterruptedTest : public SilentTest {
 protected:
  void SetUp() override {
    const sigset_t set = sys::SignalSet({SIGTERM});
    ASSERT_EQ(pthread_sigmask(SIG_BLOCK, &set, &before_), 0);
    ASSERT_EQ(kill(getpid(), SIGTERM), 0);
  }
  void TearDown() override {
    const UniqueFd signals = sys::CatchSignals({SIGTERM});
    if (HasCome()) sys::TakeSignal(signals.get());
    ASSERT_EQ(pthread_sigmask(SIG_SETMASK, &before_, nullptr), 0);
  }
  static bool HasCome() {
    sigset_t pending;
    return sigpending(&pending) == 0 && sigismember(&pending, SIGTERM) == 1;
  }

 private:
  sigset_t before_;
};

TEST_F(InterruptedTest, DoesNotWait) {
  Caller caller = Ask();
  caller.LimitWaiting(std::nullopt);
  try {
    caller.CallJson(kDescribe);
    FAIL() << "there was an answer";
  } catch (const sys::Interrupted& interrupted) {
    EXPECT_EQ(interrupted.signal(), SIGTERM);
  }
  ends_.second.reset();
}

// A pending signal loses no answer that arrives in time; the signal stays pending for the next
// reader.
TEST_F(InterruptedTest, TakesTheAnswerThatComesInTime) {
  Caller caller = Ask();
  caller.LimitWaiting(std::nullopt, Duration::Seconds(60));
  std::thread other([&] {
    Connection connection(std::move(ends_.second), kTalk);
    pollfd wait{connection.fd(), POLLIN, 0};
    poll(&wait, 1, -1);
    AnswerNext(connection, [](Message&) -> Reply { return {{{"said", "yes"}}, {}}; });
  });
  const nlohmann::json answer = caller.CallJson(kDescribe);
  other.join();
  EXPECT_EQ(answer["said"], "yes");
  EXPECT_TRUE(HasCome());
}

TEST_F(InterruptedTest, IsNotHeldUpAtTheEnd) {
  const Instant begin = MonotonicClock::Now();
  { const Caller caller = Ask(); }  // the service's end of the connection stays open
  EXPECT_LT(MonotonicClock::Now() - begin, Duration::Seconds(10));
}

}  // namespace
}  // namespace viaduct::ipc
