#include "engine/control.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <stdexcept>
#include <thread>

#include "base/error.h"
#include "sys/unix_socket.h"

namespace viaduct::engine {
namespace {

namespace fs = std::filesystem;

class ControlServerTest : public testing::Test {
 protected:
  void SetUp() override {
    socket_ = fs::path(testing::TempDir()) / ("viaduct-control-" + std::to_string(getpid()));
  }
  void TearDown() override { fs::remove(socket_); }

  // What a client is answered by a server with this handler.
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
