#include "sys/ipc/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "sys/ipc/test_service.h"
#include "sys/process/user_program.h"

namespace viaduct::ipc {
namespace {

using test::kTalk;
using testing::HasSubstr;

TEST(Errors, SayWhyAProgramCannotBeExecuted) {
  for (const auto& [reason, status] : {std::pair(ENOENT, 127), std::pair(EACCES, 126),
                                       std::pair(ENOEXEC, 126), std::pair(EISDIR, 126)}) {
    try {
      ThrowDecodedError(kTalk,
                        EncodeError(kTalk, sys::ExecuteError("start x: it cannot be", reason)));
      FAIL() << "nothing was thrown";
    } catch (const sys::ExecuteError& error) {
      EXPECT_EQ(error.error_number(), reason);
      EXPECT_EQ(error.shell_status(), status);
      EXPECT_EQ(error.status(), ExitStatus::kEnvironment);
    }
  }
}

TEST(Errors, KeepTheirClassAndMessage) {
  EXPECT_THROW(ThrowDecodedError(kTalk, EncodeError(kTalk, UsageError("u"))), UsageError);
  EXPECT_THROW(ThrowDecodedError(kTalk, EncodeError(kTalk, EnvironmentError("e"))),
               EnvironmentError);
  try {
    ThrowDecodedError(kTalk, EncodeError(kTalk, Error("a file called \xFF\"")));
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::kFailure);
    EXPECT_THAT(error.what(), HasSubstr("a file called"));
  }
}

}  // namespace
}  // namespace viaduct::ipc
