#include "sys/ipc/lines.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "base/error.h"
#include "sys/descriptors.h"
#include "sys/ipc/unix_socket.h"

namespace viaduct::ipc {
namespace {

TEST(LineBufferTest, LinesAreCutWhereverTheyWereSplit) {
  LineBuffer lines(5);
  EXPECT_TRUE(lines.Add("ab"));
  EXPECT_FALSE(lines.Next());
  EXPECT_TRUE(lines.Add("c\n\nde"));
  EXPECT_EQ(lines.Next(), "abc");
  EXPECT_EQ(lines.Next(), "");
  EXPECT_FALSE(lines.Next());
  EXPECT_TRUE(lines.Add("fgh"));
  EXPECT_TRUE(lines.Add("\n12345\n"));
  EXPECT_EQ(lines.Next(), "defgh");
  EXPECT_EQ(lines.Next(), "12345");
  EXPECT_FALSE(lines.Next());
}

TEST(LineBufferTest, ALongLineInPiecesIsWhole) {
  constexpr size_t kPieces = 1000;
  LineBuffer lines(kPieces * 2);
  for (size_t i = 0; i < kPieces; ++i) {
    ASSERT_TRUE(lines.Add("ab"));
    ASSERT_FALSE(lines.Next());
  }
  ASSERT_TRUE(lines.Add("\nx\ny"));
  EXPECT_EQ(lines.Next()->size(), 2 * kPieces);
  EXPECT_EQ(lines.Next(), "x");
  EXPECT_FALSE(lines.Next());
  ASSERT_TRUE(lines.Add("z\n"));
  EXPECT_EQ(lines.Next(), "yz");
}

TEST(LineBufferTest, ALineIsNeverTooLong) {
  EXPECT_FALSE(LineBuffer(5).Add("123456"));
  EXPECT_FALSE(LineBuffer(5).Add("123456\n"));
  LineBuffer lines(5);
  EXPECT_FALSE(lines.Add("first\nsecond\n")) << "six bytes";
  EXPECT_EQ(lines.Next(), "first") << "what came before it";
  EXPECT_FALSE(lines.Next());
}

class LineChannelTest : public testing::Test {
 protected:
  static constexpr size_t kMaxLine = 1 << 20;
  static constexpr int kMany = 2000;

  LineChannelTest() {
    auto [one, other] = sys::MakeSocketPair(SOCK_STREAM);
    one_.emplace(std::move(one), kMaxLine);
    other_.emplace(std::move(other), kMaxLine);
  }

  std::optional<LineChannel> one_, other_;
};

TEST_F(LineChannelTest, BothEndsSendLines) {
  one_->Send("to the other");
  other_->Send("to the one");
  other_->Send("");
  EXPECT_EQ(other_->Receive(), "to the other");
  EXPECT_EQ(one_->Receive(), "to the one");
  EXPECT_EQ(one_->Receive(), "");
  EXPECT_FALSE(one_->Receive());
  EXPECT_FALSE(one_->Ended());
}

TEST_F(LineChannelTest, WhatTheOtherEndDoesNotReadIsKept) {
  const std::string line(1000, 'x');
  EXPECT_EQ(one_->Events(), POLLIN);
  for (int i = 0; i < kMany; ++i) one_->Send(line);
  EXPECT_EQ(one_->Events(), POLLIN | POLLOUT) << "a socket takes less than 2 MB";
  int received = 0;
  while (received < kMany) {
    one_->Receive();  // sends the bytes that the previous call has kept
    while (const auto got = other_->Receive()) {
      ASSERT_EQ(*got, line);
      ++received;
    }
  }
  EXPECT_EQ(one_->Events(), POLLIN);
}

TEST_F(LineChannelTest, WaitsUntilAllIsTaken) {
  std::thread reader([this] {
    for (int received = 0; received < kMany;) {
      if (other_->Receive()) ++received;
    }
  });
  for (int i = 0; i < kMany; ++i) one_->SendAll(std::string(1000, 'x'));
  EXPECT_EQ(one_->Events(), POLLIN);
  reader.join();
}

TEST_F(LineChannelTest, TheLinesBeforeTheEndAreReceived) {
  one_->Send("first");
  one_->Send("second");
  one_.reset();
  EXPECT_EQ(other_->Receive(), "first");
  EXPECT_FALSE(other_->Ended());
  EXPECT_EQ(other_->Receive(), "second");
  EXPECT_FALSE(other_->Receive());
  EXPECT_TRUE(other_->Ended());
  other_->SendAll("to nobody");  // neither blocks nor ends this process by SIGPIPE
}

TEST_F(LineChannelTest, ALineThatIsTooLongIsAnError) {
  one_->Send(std::string(kMaxLine + 1, 'x'));
  const auto receive = [this] {
    for (int i = 0; i < kMany; ++i) {
      one_->Receive();
      other_->Receive();
    }
  };
  EXPECT_THROW(receive(), Error);
}

}  // namespace
}  // namespace viaduct::ipc
