#include "guest/agent/served_sockets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <string>
#include <vector>

namespace viaduct::guest {
namespace {

using agent::BytesOf;
using agent::Code;
using testing::ElementsAre;
using testing::IsEmpty;

// What goes to the kernel and to the agent, in order: "kernel CODE SOCKET VALUE[ zeros][ abort][:
// PAYLOAD]", "agent CODE SOCKET REQUEST LENGTH".
class ServedSocketsTest : public testing::Test, protected SocketService {
 protected:
  bool Available() const override { return available_; }
  void Put(const SocketOperation& operation, ServedSockets::Parts parts) override {
    std::string text = "kernel " + std::to_string(static_cast<int>(operation.code)) + " " +
                       std::to_string(operation.socket) + " " + std::to_string(operation.value);
    if (operation.zeros) text += " zeros";
    if (operation.abort) text += " abort";
    if (parts.size() > 0) text += ": ";
    for (const auto& part : parts)
      text.append(reinterpret_cast<const char*>(part.data()), part.size());
    log_.push_back(text);
  }
  void SetReceiver(std::function<void(SocketEvent)>) override {}

  bool Take(Code code, uint32_t socket, ServedSockets::Parts parts = {}, uint16_t flags = 0) {
    return served_.Take(code, socket, ++request_, parts, flags);
  }
  bool Open(uint32_t socket, uint16_t type = SOCK_STREAM, uint32_t protocol = IPPROTO_TCP) {
    return Take(Code::kOpenSocket, socket,
                {BytesOf(agent::OpenSocket{1, AF_INET, type, protocol, 0, 1000})});
  }
  bool Connect(uint32_t socket) {
    return Take(Code::kConnect, socket, {BytesOf(agent::Endpoint{})});
  }
  template <class Payload>
  void Note(Code code, uint32_t socket, const Payload& payload) {
    agent::Operation event;
    event.code = code;
    event.subject = socket;
    event.payload = BytesOf(payload);
    served_.Note(event);
  }
  void Connected(uint32_t socket, uint32_t descriptor) {
    Note(Code::kConnected, socket, agent::Connected{{}, {}, descriptor, 0});
  }
  std::vector<std::string> Log() { return std::exchange(log_, {}); }

  bool available_ = true;
  uint32_t request_ = 0;
  uint32_t opened_for_kernel_ = 0;
  std::vector<std::string> log_;
  ServedSockets served_{*this, [this](Code code, uint32_t socket, uint32_t request,
                                      std::span<const std::byte> payload, uint16_t flags) {
                          if (code == Code::kOpenSocket) {
                            agent::Operation operation;
                            operation.payload = payload;
                            opened_for_kernel_ = operation.As<agent::OpenSocket>().kernel_serves;
                          }
                          log_.push_back("agent " + std::to_string(static_cast<int>(code)) + " " +
                                         std::to_string(socket) + " " + std::to_string(request) +
                                         " " + std::to_string(payload.size()) +
                                         (flags != 0 ? " abort" : ""));
                        }};
};

TEST_F(ServedSocketsTest, OnlyTcpIsServed) {
  EXPECT_FALSE(Open(1, SOCK_DGRAM, 0));
  EXPECT_FALSE(Open(2, SOCK_STREAM, IPPROTO_SCTP));
  EXPECT_FALSE(Open(3, SOCK_STREAM, IPPROTO_MPTCP));
  EXPECT_FALSE(Take(Code::kSend, 1));
  EXPECT_THAT(Log(), IsEmpty());
  EXPECT_TRUE(Open(4));
  EXPECT_TRUE(Open(5, SOCK_STREAM, 0));
  EXPECT_EQ(opened_for_kernel_, 1u);
}

TEST_F(ServedSocketsTest, AKernelThatServesNoneGetsNothing) {
  available_ = false;
  EXPECT_FALSE(Open(1));
  EXPECT_FALSE(Connect(1));
  Connected(1, 9);
  EXPECT_FALSE(Take(Code::kSend, 1, {BytesOf("x")}));
  EXPECT_THAT(Log(), IsEmpty());
}

TEST_F(ServedSocketsTest, AConnectionIsTheKernelsWithItsCreditAndWhatWasSent) {
  Open(1);
  EXPECT_FALSE(Connect(1));  // the agent does
  EXPECT_TRUE(Take(Code::kSend, 1, {BytesOf("early")}));
  EXPECT_TRUE(Take(Code::kCredit, 1, {BytesOf(uint64_t{24})}));
  EXPECT_TRUE(Take(Code::kShutdown, 1, {BytesOf(uint32_t{SHUT_WR})}));
  Log();
  Connected(1, 46);
  EXPECT_THAT(Log(), ElementsAre("kernel 1 1 46", "kernel 3 1 1024", "kernel 2 1 0: early",
                                 "kernel 4 1 1"));
  EXPECT_TRUE(Take(Code::kSetOption, 1, {BytesOf("optional")}));
  EXPECT_FALSE(Take(Code::kGetOption, 1));
  EXPECT_THAT(Log(), ElementsAre("kernel 5 1 0: optional"));
}

TEST_F(ServedSocketsTest, CountsBeyond32BitsAreSplit) {
  Open(1);
  Connect(1);
  Connected(1, 46);
  Log();
  Take(Code::kSend, 1, {BytesOf((uint64_t{1} << 32) + 5)}, agent::kZeros);
  Take(Code::kCredit, 1, {BytesOf((uint64_t{1} << 32) + 6)});
  EXPECT_THAT(Log(), ElementsAre("kernel 2 1 4294967295 zeros", "kernel 2 1 6 zeros",
                                 "kernel 3 1 4294967295", "kernel 3 1 7"));
}

TEST_F(ServedSocketsTest, AcceptedConnectionsHaveTheListenersCredit) {
  Open(1);
  EXPECT_FALSE(Take(Code::kListen, 1, {BytesOf(agent::Listen{5, 0, 3000})}));
  Log();
  Note(Code::kAccepted, 1, agent::Accepted{agent::kAccepted, 47, {}, {}});
  EXPECT_THAT(Log(), ElementsAre("kernel 1 2147483648 47", "kernel 3 2147483648 3000"));
  EXPECT_THROW(Note(Code::kAccepted, 1, agent::Accepted{agent::kAccepted, 48, {}, {}}),
               agent::ProtocolError);
}

TEST_F(ServedSocketsTest, TheAgentClosesWhatTheKernelHasReleased) {
  Open(1);
  Connect(1);
  Connected(1, 46);
  Log();
  EXPECT_TRUE(Take(Code::kClose, 1, {}, agent::kAbort));
  const std::string request = std::to_string(request_);
  EXPECT_THAT(Log(), ElementsAre("kernel 6 1 0 abort"));
  served_.Released(1);
  EXPECT_THAT(Log(), ElementsAre("agent " + std::to_string(static_cast<int>(Code::kClose)) + " 1 " +
                                 request + " 0 abort"));
  EXPECT_THROW(served_.Released(1), agent::ProtocolError);
}

TEST_F(ServedSocketsTest, ASocketInUseIsNotReleased) {
  Open(1);
  Connect(1);
  Connected(1, 46);
  EXPECT_THROW(served_.Released(1), agent::ProtocolError);
  EXPECT_THROW(Connected(1, 46), agent::ProtocolError);
}

TEST_F(ServedSocketsTest, ClosedWhileItConnectsIsTheAgents) {
  Open(1);
  Connect(1);
  Take(Code::kSend, 1, {BytesOf("12345")});
  Log();
  EXPECT_FALSE(Take(Code::kClose, 1));
  EXPECT_EQ(Log().size(), 1u);  // what it has sent
  Connected(1, 46);
  EXPECT_THAT(Log(), IsEmpty());
}

TEST_F(ServedSocketsTest, ARefusedConnectionLosesWhatWasSent) {
  Open(1);
  EXPECT_FALSE(Take(Code::kSend, 1, {BytesOf("x")}));  // the agent's error
  Connect(1);
  Take(Code::kSend, 1, {BytesOf("lost")});
  Log();
  Note(Code::kFailed, 1, agent::Failed{ECONNREFUSED, static_cast<uint16_t>(Code::kConnect), 0});
  EXPECT_FALSE(Take(Code::kSend, 1, {BytesOf("x")}));
  Connect(1);
  Connected(1, 46);
  EXPECT_THAT(Log(), ElementsAre("kernel 1 1 46", "kernel 3 1 1000"));
}

TEST_F(ServedSocketsTest, ASocketThatCouldNotBeOpenedIsTheAgentsError) {
  Open(1);
  Note(Code::kFailed, 1, agent::Failed{EMFILE, static_cast<uint16_t>(Code::kOpenSocket), 0});
  EXPECT_FALSE(Take(Code::kCredit, 1, {BytesOf(uint64_t{1})}));
}

}  // namespace
}  // namespace viaduct::guest
