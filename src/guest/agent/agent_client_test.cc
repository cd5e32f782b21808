#include "guest/agent/agent_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cerrno>

#include "base/error.h"

namespace viaduct::guest {
namespace {

using agent::BytesOf;
using agent::Code;
using agent::Operation;
using testing::ElementsAre;

// A channel to a guest whose agent is simulated by the test.
class FakeChannel : public AgentChannel {
 public:
  size_t MaxMessage() const override { return 4096; }
  void Send(std::span<const std::byte> message) override {
    ++messages;
    reader_.Read(message, [&](const Operation& operation) {
      requests.push_back({operation.code, operation.subject, operation.request,
                          operation.payload.empty() ? std::byte{} : operation.payload.front()});
    });
  }
  void SetReceiver(std::function<void(std::span<const std::byte>)> receiver) override {
    receiver_ = std::move(receiver);
  }
  bool Settle() override {
    if (on_settle) on_settle();
    return on_settle != nullptr;
  }
  void Say(Code code, uint32_t subject, uint32_t request,
           std::initializer_list<std::span<const std::byte>> parts, uint16_t flags = 0) {
    writer_.Add(code, subject, request, parts, flags);
    writer_.Flush();
  }

  struct Request {
    Code code;
    uint32_t subject;
    uint32_t request;
    std::byte first;  // the first byte of the payload
  };
  std::vector<Request> requests;
  int messages = 0;
  std::function<void()> on_settle;

 private:
  std::function<void(std::span<const std::byte>)> receiver_;
  agent::MessageReader reader_;
  agent::MessageWriter writer_{agent::kMaxMessage,
                               [this](std::span<const std::byte> message) { receiver_(message); }};
};

class Listener : public SocketEvents {
 public:
  void OnBound(const agent::Endpoint& local) override {
    log.push_back("bound " + std::to_string(local.port));
  }
  void OnConnected(const agent::Endpoint&, const agent::Endpoint& peer) override {
    log.push_back("connected " + std::to_string(peer.port));
  }
  void OnAccepted(const agent::Accepted& accepted) override {
    log.push_back("accepted " + std::to_string(accepted.peer.port));
  }
  void OnData(const Data& data) override {
    log.push_back("data " + std::to_string(data.size) + (data.bytes.empty() ? " zeros" : ""));
  }
  void OnWritten(uint64_t bytes) override { log.push_back("written " + std::to_string(bytes)); }
  void OnEnd() override { log.push_back("end"); }
  void OnBroken(int error_number) override {
    log.push_back("broken " + std::to_string(error_number));
  }
  void OnFailed(Code, int error_number) override {
    log.push_back("failed " + std::to_string(error_number));
  }
  void OnOption(const agent::SocketOption&, std::span<const std::byte> value) override {
    log.push_back("option of " + std::to_string(value.size()));
  }
  std::vector<std::string> log;
};

class AgentClientTest : public testing::Test {
 protected:
  void RunScheduled() {
    while (!scheduled_.empty()) {
      const auto work = std::move(scheduled_.front());
      scheduled_.pop_front();
      work();
    }
  }
  std::deque<std::function<void()>> scheduled_;
  FakeChannel channel_;
  AgentClient client_{
      channel_, [this](std::function<void()> work) { scheduled_.push_back(std::move(work)); }};
  Listener listener_;
};

TEST_F(AgentClientTest, WhatIsAskedAtOneInstantIsOneMessage) {
  const uint32_t node = client_.CreateNode("n0");
  client_.WriteSysctl(node, "net.ipv4.ip_forward", "1");
  client_.SetUp(node, 2, true);
  EXPECT_EQ(channel_.messages, 0);
  RunScheduled();
  EXPECT_EQ(channel_.messages, 1);
  EXPECT_EQ(channel_.requests.size(), 3u);
}

TEST_F(AgentClientTest, AFailureNamesNodeAndRequest) {
  const uint32_t node = client_.CreateNode("n7");
  client_.AddAddress(node, 2, wire::IpPrefix::Parse("10.0.0.1/24"));
  RunScheduled();
  const agent::Failed failed{EEXIST, static_cast<uint16_t>(Code::kAddAddress), 0};
  channel_.Say(Code::kFailed, node, channel_.requests[1].request,
               {BytesOf(failed), BytesOf("File exists")});
  EXPECT_THAT([&] { RunScheduled(); },
              testing::ThrowsMessage<Error>("kernel node n7: add an address: File exists"));
}

TEST_F(AgentClientTest, AMovedInterfaceReportsItsIndex) {
  int ifindex = 0;
  const uint32_t node = client_.CreateNode("n0");
  client_.MoveInterface(node, {}, "eth0",
                        [&](const agent::Interface& interface) { ifindex = interface.ifindex; });
  RunScheduled();
  channel_.Say(Code::kDone, node, channel_.requests[1].request,
               {BytesOf(agent::Interface{5, 1500})});
  RunScheduled();
  EXPECT_EQ(ifindex, 5);
  EXPECT_THROW(client_.MoveInterface(node, {}, "a-name-that-is-too-long", {}), UsageError);
}

TEST_F(AgentClientTest, EventsGoToTheirSocketInOrderAndNotAfterDetach) {
  const uint32_t socket = client_.NewSocket(&listener_);
  channel_.Say(Code::kData, socket, 0, {BytesOf("abc")});
  channel_.Say(Code::kData, socket, 0, {BytesOf(uint64_t{1000})}, agent::kZeros);
  channel_.Say(Code::kData, socket + 1, 0, {BytesOf("not ours")});
  channel_.Say(Code::kEnd, socket, 0, {});
  EXPECT_TRUE(listener_.log.empty());  // only RunScheduled() calls the callbacks
  RunScheduled();
  EXPECT_THAT(listener_.log, ElementsAre("data 3", "data 1000 zeros", "end"));
  client_.Detach(socket);
  channel_.Say(Code::kWritten, socket, 0, {BytesOf(uint64_t{1})});
  RunScheduled();
  EXPECT_EQ(listener_.log.size(), 3u);
}

TEST_F(AgentClientTest, AnAwaitedAnswerOvertakesWhatWaits) {
  const uint32_t socket = client_.NewSocket(&listener_);
  const uint32_t request = client_.Tell(Code::kBind, socket, {BytesOf(agent::Endpoint{})});
  EXPECT_FALSE(client_.Await(request));  // the guest has not booted
  channel_.on_settle = [&] {
    channel_.Say(Code::kWritten, socket, 0, {BytesOf(uint64_t{9})});
    agent::Endpoint local{};
    local.port = 4711;
    channel_.Say(Code::kBound, socket, request, {BytesOf(local)});
  };
  EXPECT_TRUE(client_.Await(request));
  EXPECT_THAT(listener_.log, ElementsAre("bound 4711"));
  RunScheduled();
  EXPECT_THAT(listener_.log, ElementsAre("bound 4711", "written 9"));
}

TEST_F(AgentClientTest, WhatSocketsAskWaitsForTheirReleaseAndNodesDoNot) {
  int value = 1;
  client_.HoldSockets();
  const uint32_t socket = client_.NewSocket(&listener_);
  const uint32_t bind = client_.Tell(Code::kBind, socket, {BytesOf(agent::Endpoint{})});
  client_.TellLate(Code::kSetOption, socket, [&] { return std::vector(4, std::byte(value)); });
  const uint32_t node = client_.CreateNode("n0");
  RunScheduled();
  ASSERT_EQ(channel_.requests.size(), 1u);
  EXPECT_EQ(channel_.requests[0].subject, node);
  value = 2;
  client_.SetUp(node, 2, true);
  client_.ReleaseSockets();
  client_.Tell(Code::kClose, socket);
  RunScheduled();
  ASSERT_EQ(channel_.requests.size(), 5u);
  EXPECT_EQ(channel_.requests[1].code, Code::kSetLink);
  EXPECT_EQ(channel_.requests[2].code, Code::kBind);
  EXPECT_EQ(channel_.requests[2].request, bind);
  EXPECT_EQ(channel_.requests[3].code, Code::kSetOption);
  EXPECT_EQ(channel_.requests[3].first, std::byte{2}) << "its value is of the release";
  EXPECT_EQ(channel_.requests[4].code, Code::kClose);
}

TEST_F(AgentClientTest, AMessageThatBreaksTheProtocolIsAnError) {
  const uint32_t socket = client_.NewSocket(&listener_);
  channel_.Say(Code::kData, socket, 0, {BytesOf(uint64_t{1} << 40)}, agent::kZeros);
  EXPECT_THROW(RunScheduled(), agent::ProtocolError);
  channel_.Say(Code::kConnected, socket, 0, {BytesOf(agent::Endpoint{})});
  EXPECT_THROW(RunScheduled(), agent::ProtocolError);
}

}  // namespace
}  // namespace viaduct::guest
