#include "guest/agent/served_sockets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <string>
#include <vector>

#include "guest/agent/socket_address.h"

namespace viaduct::guest {
namespace {

using agent::BytesOf;
using agent::Code;
using testing::ElementsAre;
using testing::IsEmpty;

// A fixture that logs the operations for the kernel and the requests to the agent, in order, as
// "kernel CODE SOCKET VALUE[ zeros][ abort][: PAYLOAD]" and "agent CODE SOCKET REQUEST LENGTH".
class ServedSocketsTest : public testing::Test, protected SocketService {
 protected:
  bool Available() const override { return available_; }
  bool ServesMessages() const override { return available_ && messages_; }
  void Put(const SocketOperation& operation, ServedSockets::Parts parts) override {
    std::string text = "kernel " + std::to_string(static_cast<int>(operation.code)) + " " +
                       std::to_string(operation.socket) + " " + std::to_string(operation.value);
    if (operation.zeros) text += " zeros";
    if (operation.abort) text += " abort";
    if (operation.message) text += " message";
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
  void Note(Code code, uint32_t socket, const Payload& payload, uint32_t request = 0) {
    agent::Operation event;
    event.code = code;
    event.subject = socket;
    event.request = request;
    event.payload = BytesOf(payload);
    served_.Note(event);
  }
  void Connected(uint32_t socket, uint32_t descriptor) {
    Note(Code::kConnected, socket, agent::Connected{{}, {}, descriptor, 0});
  }
  std::vector<std::string> Log() { return std::exchange(log_, {}); }

  bool available_ = true;
  bool messages_ = false;
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
                                         ((flags & agent::kAbort) != 0 ? " abort" : "") +
                                         ((flags & agent::kAnswer) != 0 ? " answer" : ""));
                        }};
};

TEST_F(ServedSocketsTest, AnOlderPatchServesOnlyTcp) {
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
  EXPECT_FALSE(Connect(1));  // the agent, not the kernel, connects the socket
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
  EXPECT_EQ(Log().size(), 1u);  // the held kSend, which the agent receives
  Connected(1, 46);
  EXPECT_THAT(Log(), IsEmpty());
}

TEST_F(ServedSocketsTest, ARefusedConnectionLosesWhatWasSent) {
  Open(1);
  EXPECT_FALSE(Take(Code::kSend, 1, {BytesOf("x")}));  // the agent reports the error
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

class ServedMessagesTest : public ServedSocketsTest {
 protected:
  ServedMessagesTest() { messages_ = true; }
  // Opens a UDP socket and returns the number of the request. Ready() then reports that the agent's
  // descriptor of the socket is 9.
  uint32_t OpenUdp(uint32_t socket) {
    EXPECT_TRUE(Open(socket, SOCK_DGRAM, IPPROTO_UDP));
    return request_;
  }
  void Ready(uint32_t socket, uint32_t request) {
    Note(Code::kReady, socket, uint32_t{9}, request);
  }
  std::string Agent(Code code, uint32_t request, const std::string& rest) {
    return "agent " + std::to_string(static_cast<int>(code)) + " 1 " + std::to_string(request) +
           " " + rest;
  }
  SocketEvent Data(std::string_view text, bool part = false) {
    SocketEvent event;
    event.code = SocketEvent::Code::kData;
    event.socket = 1;
    event.value = static_cast<uint32_t>(text.size());
    const auto bytes = std::as_bytes(std::span(text));
    event.bytes.assign(bytes.begin(), bytes.end());
    event.message = true;
    event.part = part;
    return event;
  }
  SocketEvent Zeros(uint32_t count, bool part = false) {
    SocketEvent event = Data("", part);
    event.zeros = true;
    event.value = count;
    return event;
  }
  // Returns the bytes of an event's data without the sender and metadata in front; "" if the event
  // is a part of a message that is not the last part.
  std::string Bytes(SocketEvent event) {
    std::vector<std::byte> payload;
    const auto operation = served_.ToOperation(std::move(event), &payload);
    if (!operation) return "";
    if ((operation->flags & agent::kZeros) != 0)
      return std::to_string(operation->As<uint64_t>()) + " zeros";
    return std::string(operation->Text());
  }
};

TEST_F(ServedMessagesTest, AllProtocolsAreServed) {
  EXPECT_TRUE(Open(1, SOCK_DGRAM, 0));
  EXPECT_TRUE(Open(2, SOCK_RAW, IPPROTO_ICMP));
  EXPECT_TRUE(Open(3, SOCK_STREAM, IPPROTO_SCTP));
  EXPECT_TRUE(Open(4, SOCK_STREAM, IPPROTO_MPTCP));
  EXPECT_TRUE(Open(5, SOCK_DCCP, IPPROTO_DCCP));
  EXPECT_EQ(opened_for_kernel_, 1u);
  EXPECT_FALSE(Open(6, SOCK_SEQPACKET, IPPROTO_SCTP));
}

TEST_F(ServedMessagesTest, WithoutConnectionASocketIsTheKernelsOnceItIsOpen) {
  const uint32_t open = OpenUdp(1);
  EXPECT_TRUE(Take(Code::kCredit, 1, {BytesOf(uint64_t{24})}));
  EXPECT_TRUE(Take(Code::kSend, 1, {BytesOf("early")}));
  Log();
  Ready(1, open);
  EXPECT_THAT(Log(), ElementsAre("kernel 1 1 9", "kernel 3 1 1024", "kernel 2 1 0: early"));
  Take(Code::kCredit, 1, {BytesOf(uint64_t{7})});
  EXPECT_THAT(Log(), ElementsAre("kernel 3 1 7"));
}

TEST_F(ServedMessagesTest, WhatFollowsARequestToTheAgentWaitsForItsAnswer) {
  Ready(1, OpenUdp(1));
  Log();
  EXPECT_FALSE(Take(Code::kBind, 1, {BytesOf(agent::Endpoint{})}));
  const uint32_t bind = request_;
  EXPECT_TRUE(Take(Code::kSend, 1, {BytesOf("1")}));
  EXPECT_TRUE(Take(Code::kSetOption, 1, {BytesOf("ttl")}));
  EXPECT_TRUE(Take(Code::kSend, 1, {BytesOf("2")}));
  EXPECT_TRUE(Take(Code::kConnect, 1, {BytesOf(agent::Endpoint{})}));
  const uint32_t connect = request_;
  EXPECT_TRUE(Take(Code::kSend, 1, {BytesOf("3")}));
  EXPECT_TRUE(Take(Code::kClose, 1));
  EXPECT_THAT(Log(), IsEmpty());
  Note(Code::kBound, 1, agent::Endpoint{}, bind);
  EXPECT_THAT(Log(), ElementsAre("kernel 2 1 0: 1", "kernel 5 1 0: ttl", "kernel 2 1 0: 2",
                                 Agent(Code::kConnect, connect, "24")));
  Note(Code::kFailed, 1, agent::Failed{ENETUNREACH, static_cast<uint16_t>(Code::kConnect), 0},
       connect);
  EXPECT_THAT(Log(), ElementsAre("kernel 2 1 0: 3", "kernel 6 1 0"));
}

TEST_F(ServedMessagesTest, OptionsBeforeTheAgentsAnswerAreTheAgents) {
  const uint32_t open = OpenUdp(1);
  Log();
  EXPECT_TRUE(Take(Code::kSetOption, 1, {BytesOf("reuse")}));
  const uint32_t option = request_;
  EXPECT_THAT(Log(), ElementsAre(Agent(Code::kSetOption, option, "5 answer")));
  EXPECT_FALSE(Take(Code::kBind, 1, {BytesOf(agent::Endpoint{})}));
  const uint32_t bind = request_;
  EXPECT_TRUE(Take(Code::kSend, 1, {BytesOf("1")}));
  Ready(1, open);
  Ready(1, option);
  EXPECT_THAT(Log(), ElementsAre("kernel 1 1 9", "kernel 3 1 1000"));
  Note(Code::kBound, 1, agent::Endpoint{}, bind);
  EXPECT_THAT(Log(), ElementsAre("kernel 2 1 0: 1"));
  EXPECT_TRUE(Take(Code::kSetOption, 1, {BytesOf("ttl")}));
  EXPECT_THAT(Log(), ElementsAre("kernel 5 1 0: ttl"));
}

TEST_F(ServedMessagesTest, ReceiversFollowTheBytes) {
  Ready(1, OpenUdp(1));
  Log();
  const auto to = agent::ToEndpoint(wire::IpAddress::Parse("10.0.0.1"), 0x4142);
  Take(Code::kSend, 1, {BytesOf(to), BytesOf("hello")}, agent::kToEndpoint);
  Take(Code::kSend, 1, {BytesOf(to), BytesOf(uint64_t{1400})}, agent::kToEndpoint | agent::kZeros);
  const std::string name = std::string("\x02\0AB\x0a\0\0\x01", 8) + std::string(8, '\0');
  EXPECT_THAT(Log(), ElementsAre("kernel 2 1 5 message: hello" + name,
                                 "kernel 2 1 1400 zeros message: " + name));
}

TEST_F(ServedMessagesTest, TheRequestsOfASocketThatCouldNotBeOpenedAreTheAgents) {
  const uint32_t open = OpenUdp(1);
  Take(Code::kSend, 1, {BytesOf("x")});
  Log();
  Note(Code::kFailed, 1, agent::Failed{EMFILE, static_cast<uint16_t>(Code::kOpenSocket), 0}, open);
  EXPECT_THAT(Log(), ElementsAre(Agent(Code::kSend, open + 1, "1")));
  EXPECT_FALSE(Take(Code::kSend, 1, {BytesOf("x")}));
}

TEST_F(ServedMessagesTest, PartsAreOneMessage) {
  Open(1, SOCK_STREAM, IPPROTO_SCTP);
  EXPECT_EQ(Bytes(Data("alone")), "alone");
  EXPECT_EQ(Bytes(Data("be", true)), "");
  EXPECT_EQ(Bytes(Data("gu", true)), "");
  EXPECT_EQ(Bytes(Data("n")), "begun");
  EXPECT_EQ(Bytes(Zeros(3, true)), "");
  EXPECT_EQ(Bytes(Zeros(4)), "7 zeros");
  EXPECT_EQ(Bytes(Zeros(2, true)), "");
  EXPECT_EQ(Bytes(Data("x", true)), "");
  EXPECT_EQ(Bytes(Zeros(1)), std::string("\0\0x\0", 4));
  EXPECT_EQ(Bytes(Data("alone")), "alone");
}

TEST_F(ServedMessagesTest, AMessageThatDoesNotEndIsRefused) {
  Open(1, SOCK_STREAM, IPPROTO_SCTP);
  EXPECT_EQ(Bytes(Zeros(65536, true)), "");
  EXPECT_EQ(Bytes(Zeros(65536, true)), "");
  EXPECT_THROW(Bytes(Zeros(1, true)), agent::ProtocolError);
}

TEST_F(ServedMessagesTest, TheSenderComesWithAMessage) {
  SocketEvent event = Data("text");
  const auto from = agent::ToEndpoint(wire::IpAddress::Parse("2001:db8::1"), 4000);
  auto name = agent::ToSocketAddress(from);
  const auto bytes = std::as_bytes(std::span(&name.storage, 1)).first(name.length);
  event.name.assign(bytes.begin(), bytes.end());
  std::vector<std::byte> payload;
  const auto operation = served_.ToOperation(event, &payload);
  ASSERT_TRUE(operation);
  EXPECT_EQ(operation->flags, agent::kToEndpoint);
  const auto told = operation->As<agent::Endpoint>();
  EXPECT_EQ(agent::FromEndpoint(told), agent::FromEndpoint(from));
  EXPECT_EQ(told.port, 4000);
  EXPECT_EQ(operation->Text(sizeof told), "text");
}

}  // namespace
}  // namespace viaduct::guest
