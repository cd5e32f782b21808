#include "guest/embed/local_stream.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "guest/embed/context.h"
#include "guest/embed/embed_test_support.h"
#include "guest/embed/import_functions.h"

namespace viaduct::embed {
namespace {

// An argument of sendmsg(2) that has the given bytes and descriptors.
class Message {
 public:
  explicit Message(std::string_view text, const std::vector<int>& descriptors = {})
      : piece_{const_cast<char*>(text.data()), text.size()} {
    header_.msg_iov = &piece_;
    header_.msg_iovlen = 1;
    if (descriptors.empty()) return;
    const size_t size = descriptors.size() * sizeof(int);
    header_.msg_control = control_.data();
    header_.msg_controllen = CMSG_SPACE(size);
    cmsghdr* part = CMSG_FIRSTHDR(&header_);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(size);
    std::memcpy(CMSG_DATA(part), descriptors.data(), size);
  }
  const msghdr& header() const { return header_; }

 private:
  alignas(cmsghdr) std::array<char, CMSG_SPACE(8 * sizeof(int))> control_{};
  iovec piece_;
  msghdr header_{};
};

std::string Take(LocalStream& stream, size_t room, std::vector<UniqueFd>& descriptors) {
  std::string text(room, '\0');
  text.resize(stream.Take(std::as_writable_bytes(std::span(text)), descriptors));
  return text;
}

std::string Receive(LocalStream& stream, size_t room) {
  std::string text(room, '\0');
  text.resize(stream.Receive(std::as_writable_bytes(std::span(text))));
  return text;
}

TEST(LocalStreamTest, KeepsBytesInTheirOrderInPiecesOfAnySize) {
  LocalStream stream;
  std::vector<UniqueFd> none;
  EXPECT_EQ(Take(stream, 10, none), "");
  EXPECT_EQ(stream.Send(Message("abc").header()), 3);
  EXPECT_EQ(stream.Send(Message("").header()), 0);
  EXPECT_EQ(stream.Send(Message("defg").header()), 4);
  EXPECT_EQ(Take(stream, 4, none), "abcd");
  EXPECT_EQ(stream.Send(Message("h").header()), 1);
  EXPECT_EQ(Take(stream, 10, none), "efgh");
  EXPECT_EQ(Take(stream, 10, none), "");
  EXPECT_FALSE(stream.readable());
  stream.Answer(std::as_bytes(std::span("12345", 5)));
  EXPECT_TRUE(stream.readable());
  EXPECT_EQ(Receive(stream, 2), "12");
  EXPECT_EQ(Receive(stream, 2), "34");
  EXPECT_EQ(Receive(stream, 2), "5");
  EXPECT_FALSE(stream.readable());
  EXPECT_EQ(Receive(stream, 2), "");
  EXPECT_TRUE(none.empty());
}

TEST(LocalStreamTest, PassesDescriptorsOfItsOwn) {
  LocalStream stream;
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  EXPECT_EQ(stream.Send(Message("x", {ends[0], ends[1]}).header()), 1);
  close(ends[0]);
  close(ends[1]);
  std::vector<UniqueFd> passed;
  EXPECT_EQ(Take(stream, 10, passed), "x");
  ASSERT_EQ(passed.size(), 2u);
  EXPECT_EQ(fcntl(passed[0].get(), F_GETFD), FD_CLOEXEC);
  EXPECT_EQ(write(passed[1].get(), "y", 1), 1);
  char read_back = 0;
  EXPECT_EQ(read(passed[0].get(), &read_back, 1), 1);
  EXPECT_EQ(read_back, 'y');
  EXPECT_EQ(stream.Send(Message("x", {ends[0]}).header()), -1) << "is closed";
  EXPECT_EQ(errno, EBADF);
  EXPECT_EQ(Take(stream, 10, passed), "");
}

// Tests the imports of a guest whose connections to the socket "d" have streams.
class StreamImportsTest : public EmbedTest {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "embed-streams-" + std::to_string(getpid());
    std::filesystem::create_directory(folder_);
    boot_.reset(open(folder_.c_str(), O_PATH | O_CLOEXEC));
    simulator_.reset(open(".", O_PATH | O_CLOEXEC));
    context_.boot_folder = boot_.get();
    context_.simulator_folder = simulator_.get();
    context_.streams_name = "d";
    EmbedTest::SetUp();
    d_ = Listen("d");
    other_ = Listen("other");
  }
  void TearDown() override {
    EmbedTest::TearDown();
    std::filesystem::remove_all(folder_);
  }

  static UniqueFd Listen(const char* name) {
    UniqueFd listener(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{AF_UNIX, {}};
    std::strncpy(address.sun_path, name, sizeof address.sun_path - 1);
    const auto bind_it = [&] {
      return bind(listener.get(), reinterpret_cast<sockaddr*>(&address), sizeof address);
    };
    EXPECT_EQ(AtName(name, bind_it), 0);
    EXPECT_EQ(listen(listener.get(), 8), 0);
    return listener;
  }
  static int ConnectTo(const char* name) {
    const int fd = imports::Socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address{AF_UNIX, {}};
    std::strncpy(address.sun_path, name, sizeof address.sun_path - 1);
    EXPECT_EQ(imports::Connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    return fd;
  }
  std::string Requested() {
    if (context_.requests.empty()) return "nothing";
    const size_t number = context_.requests.front();
    context_.requests.pop_front();
    std::vector<UniqueFd> descriptors;
    return std::to_string(number) + ": " + Take(*context_.streams[number], 100, descriptors);
  }

 private:
  std::string folder_;
  UniqueFd boot_, simulator_, d_, other_;
};

std::string seen;

TEST_F(StreamImportsTest, AnswersComeToTheConnectionThatAsked) {
  if (!kFollowed) GTEST_SKIP();
  Begin([] {
    const int first = ConnectTo("d"), second = ConnectTo("d");
    const auto ask = [](int fd, std::string_view question) {
      imports::Sendmsg(fd, &Message(question).header(), 0);
      std::array entries{pollfd{fd, POLLIN, 0}, pollfd{-1, POLLIN, 77}};
      EXPECT_EQ(imports::Poll(entries.data(), entries.size(), -1), 1);
      EXPECT_EQ(entries[0].revents, POLLIN);
      EXPECT_EQ(entries[1].revents, 0);
      std::array<char, 3> answer{};
      for (ssize_t part = 0; (part = imports::Read(fd, answer.data(), answer.size())) > 0;) {
        seen.append(answer.data(), static_cast<size_t>(part));
        if (part < 3) break;
      }
    };
    ask(second, "second");
    ask(first, "first");
    LetSimulatorRun();
  });
  EXPECT_EQ(Requested(), "1: second");
  EXPECT_EQ(Requested(), "nothing");
  LetRun();
  EXPECT_EQ(Requested(), "nothing") << "it waits on";
  context_.streams[1]->Answer(std::as_bytes(std::span("12345", 5)));
  LetRun();
  EXPECT_EQ(seen, "12345");
  EXPECT_EQ(Requested(), "0: first");
  context_.streams[0]->Answer(std::as_bytes(std::span("67", 2)));
  LetRun();
  EXPECT_EQ(seen, "1234567");
}

TEST_F(StreamImportsTest, OthersAreSocketsAndSoIsTheEnd) {
  const int stream = ConnectTo("d"), plain = ConnectTo("other");
  EXPECT_EQ(imports::Sendmsg(plain, &Message("x").header(), 0), 1);
  EXPECT_EQ(Requested(), "nothing");
  pollfd entry{stream, POLLIN, 77};
  EXPECT_EQ(imports::Poll(&entry, 1, 0), 0) << "and does not wait";
  EXPECT_EQ(entry.revents, 0);
  context_.streams[0]->Answer(std::as_bytes(std::span("1", 1)));
  EXPECT_EQ(imports::Poll(&entry, 1, 0), 1);
  entry.events = POLLOUT;
  EXPECT_EQ(imports::Poll(&entry, 1, 0), 1);
  EXPECT_EQ(entry.revents, POLLOUT);
  char byte = 0;
  EXPECT_EQ(imports::Read(stream, &byte, 1), 1);
  context_.streams[0]->Answer(std::as_bytes(std::span("2", 1)));
  iovec piece{&byte, 1};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  EXPECT_EQ(imports::Recvmsg(stream, &message, MSG_DONTWAIT), 1);
  EXPECT_EQ(byte, '2');
  EXPECT_EQ(imports::Recvmsg(stream, &message, MSG_DONTWAIT), -1);
  EXPECT_EQ(errno, EAGAIN);
  EXPECT_EQ(fcntl(stream, F_SETFL, O_NONBLOCK), 0);
  EXPECT_EQ(imports::Read(stream, &byte, 1), -1);
  EXPECT_EQ(errno, EAGAIN);
  EXPECT_EQ(imports::Close(stream), 0);
  EXPECT_EQ(StreamOf(stream), nullptr);
  EXPECT_EQ(imports::Close(plain), 0);
}

TEST_F(StreamImportsTest, WhatWaitsOnOthersIsSeenAfterARequestWithoutAnswer) {
  if (!kFollowed) GTEST_SKIP();
  static int outside, looks;
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  outside = ends[0];
  Begin([] {
    const int fd = ConnectTo("d");
    imports::Sendmsg(fd, &Message("no answer").header(), 0);
    LetSimulatorRun();
    std::array entries{pollfd{fd, POLLIN, 0}, pollfd{outside, POLLIN, 0}};
    looks = imports::Poll(entries.data(), entries.size(), -1);
    LetSimulatorRun();
  });
  EXPECT_EQ(write(ends[1], "x", 1), 1);
  LetRun();
  EXPECT_EQ(looks, 1) << "at once, without going back to the simulator";
  close(ends[0]);
  close(ends[1]);
}

TEST_F(StreamImportsTest, CopiesHaveNone) {
  const int stream = ConnectTo("d");
  EXPECT_NE(StreamOf(stream), nullptr);
  context_.copy = true;
  EXPECT_EQ(StreamOf(stream), nullptr);
  context_.copy = false;
}

}  // namespace
}  // namespace viaduct::embed
