#include "path/engine/control.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <stdexcept>
#include <thread>

#include "base/error.h"
#include "sys/ipc/unix_socket.h"

namespace viaduct::engine {
namespace {

namespace fs = std::filesystem;

class ControlServerTest : public testing::Test {
 protected:
  void SetUp() override {
    socket_ = fs::path(testing::TempDir()) / ("viaduct-control-" + std::to_string(getpid()));
  }
  void TearDown() override { fs::remove(socket_); }

  // Returns the answer that a client receives from a server with this handler.
  nlohmann::json Answer(const ControlServer::Handler& handler) {
    ControlServer server(sys::ListenAt(socket_, geteuid(), getegid(), SOCK_STREAM), handler);
    nlohmann::json answer;
    std::string error;
    std::atomic<bool> done = false;
    std::thread client([&] {
      try {
        answer = Ask(socket_, {});
      } catch (const Error& refusal) {
        error = refusal.what();
      }
      done = true;
    });
    while (!done) server.Serve();
    client.join();
    if (!error.empty()) answer["refused"] = error;
    return answer;
  }

  fs::path socket_;
};

TEST_F(ControlServerTest, AnswersWithWhatItsHandlerReturns) {
  const auto answer = Answer([](const ControlRequest&) { return nlohmann::json{{"stats", 3}}; });
  EXPECT_EQ(answer.at("stats"), 3);
}

TEST_F(ControlServerTest, AnswersLaterWhatIsNotKnownYet) {
  ControlServer server(sys::ListenAt(socket_, geteuid(), getegid(), SOCK_STREAM),
                       [](const ControlRequest&) { return nlohmann::json(); });
  const auto connect = [&] {
    UniqueFd client = sys::ConnectAt(socket_, SOCK_STREAM);
    const std::string request = "{\"request\": \"stats\"}\n";
    EXPECT_EQ(send(client.get(), request.data(), request.size(), 0),
              static_cast<ssize_t>(request.size()));
    return client;
  };
  const UniqueFd patient = connect();
  { const UniqueFd gone = connect(); }
  for (int turn = 0; turn < 5; ++turn) server.Serve();
  char answer[100];
  EXPECT_LT(recv(patient.get(), answer, sizeof answer, MSG_DONTWAIT), 0);
  server.AnswerWaiting({{"stats", 3}});
  server.AnswerWaiting({{"stats", 4}});  // no client waits any more
  const ssize_t got = recv(patient.get(), answer, sizeof answer, MSG_DONTWAIT);
  ASSERT_GT(got, 0);
  EXPECT_EQ(std::string(answer, static_cast<size_t>(got)), "{\"ok\":true,\"stats\":3}\n");
}

TEST_F(ControlServerTest, AServerThatHangsIsAnError) {
  const UniqueFd listener = sys::ListenAt(socket_, geteuid(), getegid(), SOCK_STREAM);
  EXPECT_THROW(Ask(socket_, {}, Duration::Milliseconds(10)), Error);
}

TEST_F(ControlServerTest, AnAnswerThatComesByteByByteIsNotWaitedForEver) {
  const UniqueFd listener = sys::ListenAt(socket_, geteuid(), getegid(), SOCK_STREAM);
  std::thread server([&] {
    const UniqueFd client(accept(listener.get(), nullptr, nullptr));
    while (send(client.get(), "x", 1, MSG_NOSIGNAL) == 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  std::string error;
  try {
    Ask(socket_, {}, Duration::Milliseconds(20));
  } catch (const Error& silent) {
    error = silent.what();
  }
  server.join();
  EXPECT_EQ(error, "the path has ended or does not respond");
}

TEST_F(ControlServerTest, OutlivesWhateverItsHandlerThrows) {
  const auto usage =
      Answer([](const ControlRequest&) -> nlohmann::json { throw UsageError("no such pair"); });
  EXPECT_EQ(usage.at("refused"), "no such pair");
  fs::remove(socket_);
  const auto other = Answer(
      [](const ControlRequest&) -> nlohmann::json { throw std::length_error("too much of it"); });
  EXPECT_EQ(other.at("refused"), "too much of it");
}

}  // namespace
}  // namespace viaduct::engine
