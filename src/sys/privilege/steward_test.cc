#include "sys/privilege/steward.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sys/descriptors.h"
#include "sys/ipc/answer.h"

namespace viaduct::privilege {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// A fixture with the user's end of a connection to a steward without services.
class StewardTest : public testing::Test {
 protected:
  // Sends a request and returns the error that the steward answers.
  std::string RefusalOf(ipc::Code code, const std::string& payload) {
    ours_.Send(code, 1, payload);
    goes_on_ = AnswerNext(steward_, {}, {});
    ipc::Message answer;
    if (ours_.Receive(&answer) != ipc::Connection::Status::kMessage) return "no answer";
    if (answer.code != ipc::Answer::kError) return "no error";
    return ipc::Member<std::string>(ipc::DecodeJson(answer.payload), "message");
  }

  std::pair<UniqueFd, UniqueFd> ends_ = sys::MakeSocketPair(SOCK_SEQPACKET);
  ipc::Connection ours_{std::move(ends_.first), kStewardService};
  ipc::Connection steward_{std::move(ends_.second), kStewardService};
  bool goes_on_ = false;
};

TEST_F(StewardTest, RefusesWhatItDoesNotKnowAndGoesOn) {
  EXPECT_THAT(RefusalOf(StewardRequest::kStart, R"({"service":"broker"})"),
              HasSubstr("does not have the requested service"));
  EXPECT_TRUE(goes_on_);
  EXPECT_THAT(RefusalOf(StewardRequest::kStart, R"({"service":1})"), HasSubstr("wrong type"));
  EXPECT_TRUE(goes_on_);
  EXPECT_THAT(RefusalOf(ipc::Code(77), "{}"),
              AllOf(HasSubstr("steward protocol, version 1"), HasSubstr("unknown request 77")));
  EXPECT_TRUE(goes_on_);
}

TEST_F(StewardTest, EndsTheConnectionOfAnotherVersion) {
  constexpr ipc::Service kOlder = {"steward", 0};
  ipc::Connection older(UniqueFd(dup(ours_.fd())), kOlder);
  older.Send(StewardRequest::kStart, 1, "{}");
  EXPECT_FALSE(AnswerNext(steward_, {}, {}));
  ipc::Message answer;
  ASSERT_EQ(ours_.Receive(&answer), ipc::Connection::Status::kMessage);
  EXPECT_THAT(answer.payload,
              HasSubstr("the peer uses version 0, but this program uses version 1"));
}

}  // namespace
}  // namespace viaduct::privilege
