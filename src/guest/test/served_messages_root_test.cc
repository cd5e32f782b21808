// Tests of sockets of protocols other than TCP on a real kernel. Each test runs with sockets served
// by the agent and with sockets served by the kernel, which must behave in the same way. The tests
// need an image (viaduct kernel build), but no privilege.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/icmp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <string>
#include <vector>

#include "guest/test/served_peers.h"

namespace viaduct::guest {
namespace {

using agent::BytesOf;
using agent::Code;
using testing::ElementsAre;
using testing::IsEmpty;

std::vector<uint64_t> Sizes(const Peer& peer) {
  std::vector<uint64_t> sizes;
  for (const auto& message : peer.messages) sizes.push_back(message.size);
  return sizes;
}

// --- Tests of sockets without a connection

class ServedDatagramsTest : public ServedPeersTest {
 protected:
  ServedDatagramsTest() {
    type_ = SOCK_DGRAM;
    protocol_ = IPPROTO_UDP;
  }
  // Opens both sockets: server_ receives on kPort, client_ is not bound.
  void OpenBoth(uint64_t credit = kPlenty) {
    Open(server_, credit);
    Tell(Code::kBind, server_, {BytesOf(Local(kPort))});
    Open(client_);
  }
  void SendTo(const Peer& peer, const std::string& text, uint16_t port = kPort) {
    Tell(Code::kSend, peer, {BytesOf(Local(port)), BytesOf(std::string_view(text))},
         agent::kToEndpoint);
  }
  // Limits the frames that leave the node's loopback device to 1 Mbit/s, so that senders wait for
  // free buffer space.
  void SlowDown() {
    int status = -1;
    ProgramRequest request;
    request.node = node_;
    request.environment = DefaultEnvironment();
    request.words = {"/usr/sbin/tc", "qdisc", "add",   "dev",   "lo",    "root",    "tbf",
                     "rate",         "1mbit", "burst", "70000", "limit", "10000000"};
    ProgramEvents events;
    events.exited = [&status](int with) { status = with; };
    programs_->Start(request, events);
    for (int i = 0; i < 100 && status < 0; ++i) Settle();
    ASSERT_EQ(status, 0);
  }
  void SetOption(const Peer& peer, int level, int name, int value) {
    Tell(Code::kSetOption, peer, {BytesOf(agent::SocketOption{level, name}), BytesOf(value)});
  }
};

INSTANTIATE_TEST_SUITE_P(Ways, ServedDatagramsTest,
                         testing::Combine(testing::ValuesIn(kPlaces), testing::Bool()), WayName);

TEST_P(ServedDatagramsTest, MessagesKeepTheirBoundariesAndSenders) {
  for (const int family : {AF_INET, AF_INET6}) {
    family_ = family;
    client_ = {};
    server_ = {};
    OpenBoth();
    Tell(Code::kBind, client_, {BytesOf(Local(4000))});
    SendTo(client_, "one");
    SendTo(client_, "");
    Tell(Code::kSend, client_, {BytesOf(Local(kPort)), BytesOf(uint64_t{1400})},
         agent::kToEndpoint | agent::kZeros);
    const std::string longest = Pattern(family == AF_INET ? 65507 : 65527, 3);
    SendTo(client_, longest);
    Settle();
    EXPECT_THAT(Sizes(server_), ElementsAre(3, 0, 1400, longest.size()));
    EXPECT_TRUE(server_.bytes == "one" + std::string(1400, '\0') + longest);
    for (const auto& message : server_.messages) {
      ASSERT_TRUE(message.from);
      EXPECT_EQ(agent::FromEndpoint(*message.from), agent::FromEndpoint(Local(0)));
      EXPECT_EQ(message.from->port, 4000);
    }
    EXPECT_EQ(client_.written, server_.bytes.size());
    EXPECT_THAT(client_.failures, IsEmpty());
    for (const Peer* peer : {&client_, &server_}) Tell(Code::kClose, *peer, {});
    Settle();
  }
}

TEST_P(ServedDatagramsTest, AllOfOneInstantKeepsItsOrder) {
  Open(server_);
  Tell(Code::kBind, server_, {BytesOf(Local(kPort))});
  SetOption(server_, IPPROTO_IP, IP_RECVTTL, 1);
  SetOption(server_, IPPROTO_IP, IP_RECVTOS, 1);
  Open(client_);
  SendTo(client_, "1");
  SetOption(client_, IPPROTO_IP, IP_TTL, 5);
  SetOption(client_, IPPROTO_IP, IP_TOS, 8);
  SendTo(client_, "2");
  Tell(Code::kConnect, client_, {BytesOf(Local(kPort))});
  SetOption(client_, IPPROTO_IP, IP_TTL, 6);
  Tell(Code::kSend, client_, {BytesOf("3")});
  Tell(Code::kClose, client_, {});
  Settle();
  EXPECT_EQ(server_.bytes, "123");
  ASSERT_EQ(server_.messages.size(), 3u);
  std::vector<int> seen;
  for (const auto& message : server_.messages) {
    ASSERT_TRUE(message.info);
    seen.push_back(message.info->ttl);
    seen.push_back(message.info->tos);
  }
  EXPECT_THAT(seen, ElementsAre(64, 0, 5, 8, 6, 8));
}

TEST_P(ServedDatagramsTest, WhatIsTooLongFailsAndCountsAsWritten) {
  OpenBoth();
  SendTo(client_, std::string(65508, 'x'));
  Tell(Code::kSend, client_, {BytesOf(Local(kPort)), BytesOf(uint64_t{65537})},
       agent::kToEndpoint | agent::kZeros);
  SendTo(client_, "after");
  Settle();
  EXPECT_EQ(server_.bytes, "after");
  ASSERT_EQ(client_.failures.size(), 2u);
  for (const auto& failure : client_.failures)
    EXPECT_EQ(failure, std::make_pair(Code::kSend, EMSGSIZE));
}

TEST_P(ServedDatagramsTest, AnErrorOfIcmpIsToldAndTheSocketGoesOn) {
  Open(client_);
  Tell(Code::kConnect, client_, {BytesOf(Local(kPort))});
  Tell(Code::kSend, client_, {BytesOf("nobody")});
  Settle();
  EXPECT_TRUE(client_.connected);
  EXPECT_EQ(client_.broken, ECONNREFUSED);
  Open(server_);
  Tell(Code::kBind, server_, {BytesOf(Local(kPort))});
  Settle();
  Tell(Code::kSend, client_, {BytesOf("somebody")});
  Settle();
  EXPECT_EQ(server_.bytes, "somebody");
  EXPECT_THAT(client_.failures, IsEmpty());
}

TEST_P(ServedDatagramsTest, WithoutCreditMessagesWait) {
  OpenBoth(15);
  for (int i = 0; i < 5; ++i) SendTo(client_, "0123456789");
  Settle();
  EXPECT_EQ(server_.messages.size(), 2u);  // the last message may exceed the credit
  Tell(Code::kCredit, server_, {BytesOf(uint64_t{11})});
  Settle();
  EXPECT_EQ(server_.messages.size(), 4u);
  Tell(Code::kCredit, server_, {BytesOf(kPlenty)});
  Settle();
  EXPECT_EQ(server_.messages.size(), 5u);
}

TEST_P(ServedDatagramsTest, MoreThanTheBuffersHoldIsSentInTime) {
  OpenBoth();
  SetOption(client_, SOL_SOCKET, SO_SNDBUF, 4608);
  const std::string text = Pattern(3000, 4);
  for (int i = 0; i < 30; ++i) SendTo(client_, text);
  Settle();
  EXPECT_EQ(server_.messages.size(), 30u);
  EXPECT_EQ(client_.written, 90'000u);
  EXPECT_THAT(client_.failures, IsEmpty());
}

TEST_P(ServedDatagramsTest, EmptyMessagesThatWaitForRoomAreSent) {
  SlowDown();
  OpenBoth();
  SetOption(client_, SOL_SOCKET, SO_SNDBUF, 4608);
  const std::string text = Pattern(3000, 4);
  std::vector<uint64_t> sizes;
  // Sends more than the 70 kB that SlowDown() lets pass at once, so that later messages wait,
  // including empty messages.
  for (int i = 0; i < 60; ++i) {
    SendTo(client_, text);
    SendTo(client_, "");
    sizes.insert(sizes.end(), {text.size(), 0});
  }
  for (int i = 0; i < 50 && server_.messages.size() < sizes.size(); ++i) Settle();
  EXPECT_EQ(Sizes(server_), sizes);
}

TEST_P(ServedDatagramsTest, AnErrorOfOneMessageLosesNoOtherOne) {
  constexpr int kCount = 80;
  SlowDown();
  Open(client_);
  SetOption(client_, SOL_SOCKET, SO_SNDBUF, 4608);  // a small buffer, so that some messages wait
  Tell(Code::kConnect, client_, {BytesOf(Local(kPort))});
  for (int i = 0; i < kCount; ++i) SendZeros(client_, 3000);
  for (int i = 0; i < 50 && client_.written < kCount * 3000u; ++i) Settle();
  EXPECT_EQ(client_.broken, ECONNREFUSED);
  EXPECT_EQ(client_.written, kCount * 3000u);
  EXPECT_THAT(client_.failures, IsEmpty());
}

TEST_P(ServedDatagramsTest, WhatCannotBeBoundSaysWhy) {
  OpenBoth();
  Tell(Code::kBind, client_, {BytesOf(Local(kPort))});
  SendTo(client_, "sent all the same");
  Settle();
  ASSERT_EQ(client_.failures.size(), 1u);
  EXPECT_EQ(client_.failures[0], std::make_pair(Code::kBind, EADDRINUSE));
  EXPECT_EQ(server_.bytes, "sent all the same");
}

TEST_P(ServedDatagramsTest, AProtocolThatTheKernelLacksIsAnErrorOfEachRequest) {
  protocol_ = 254;
  Open(client_);
  Tell(Code::kBind, client_, {BytesOf(Local(kPort))});
  SendTo(client_, "x");
  Settle();
  ASSERT_EQ(client_.failures.size(), 3u);
  EXPECT_EQ(client_.failures[0], std::make_pair(Code::kOpenSocket, EPROTONOSUPPORT));
  EXPECT_EQ(client_.failures[1], std::make_pair(Code::kBind, EBADF));
  EXPECT_EQ(client_.failures[2], std::make_pair(Code::kSend, EBADF));
}

TEST_P(ServedDatagramsTest, RawSocketsHaveTheirPackets) {
  type_ = SOCK_RAW;
  protocol_ = IPPROTO_ICMP;
  Open(client_);
  icmphdr echo{};
  echo.type = ICMP_ECHO;
  echo.checksum = htons(0xffff - (ICMP_ECHO << 8));
  Tell(Code::kSend, client_, {BytesOf(Local(0)), BytesOf(echo)}, agent::kToEndpoint);
  Settle();
  EXPECT_THAT(Sizes(client_), ElementsAre(28, 28));  // sizes with IP headers: request, reply
  ASSERT_EQ(client_.bytes.size(), 56u);
  EXPECT_EQ(client_.bytes[20], ICMP_ECHO);
  EXPECT_EQ(client_.bytes[48], ICMP_ECHOREPLY);
}

TEST_P(ServedDatagramsTest, ManySocketsComeAndGo) {
  Open(server_);
  Tell(Code::kBind, server_, {BytesOf(Local(kPort))});
  for (int i = 0; i < 300; ++i) {
    Peer peer;
    Open(peer);
    SendTo(peer, "x");
    Tell(Code::kClose, peer, {});
    agent_->Detach(peer.number);
    if (i % 10 == 9) Settle();
  }
  Settle();
  EXPECT_EQ(server_.bytes, std::string(300, 'x'));
}

// --- Tests of sockets with a connection

struct Protocol {
  const char* name;
  uint16_t type;
  uint32_t protocol;
  bool messages;
};
constexpr Protocol kProtocols[] = {{"Sctp", SOCK_STREAM, IPPROTO_SCTP, true},
                                   {"Dccp", SOCK_DCCP, IPPROTO_DCCP, true},
                                   {"Mptcp", SOCK_STREAM, IPPROTO_MPTCP, false}};

class ServedConnectionsTest : public ServedPeersTest {
 protected:
  // Returns the protocols that the guest's kernel has; Linux 6.16 and newer have no DCCP.
  std::vector<Protocol> Protocols() const {
    std::vector<Protocol> protocols(std::begin(kProtocols), std::end(kProtocols));
    const auto& absent = options_.image.absent;
    if (std::find(absent.begin(), absent.end(), "CONFIG_IP_DCCP") != absent.end())
      std::erase_if(protocols, [](const auto& each) { return each.protocol == IPPROTO_DCCP; });
    return protocols;
  }
  void Use(const Protocol& protocol) {
    SCOPED_TRACE(protocol.name);
    type_ = protocol.type;
    protocol_ = protocol.protocol;
    listener_ = {};
    client_ = {};
    server_ = {};
  }
  void CloseAll() {
    for (const Peer* peer : {&client_, &server_, &listener_}) Tell(Code::kClose, *peer, {});
    Settle();
  }
};

INSTANTIATE_TEST_SUITE_P(Ways, ServedConnectionsTest,
                         testing::Combine(testing::ValuesIn(kPlaces), testing::Bool()), WayName);

TEST_P(ServedConnectionsTest, BytesArriveInBothDirectionsOfBothFamilies) {
  for (const Protocol& protocol : Protocols()) {
    for (const int family : {AF_INET, AF_INET6}) {
      family_ = family;
      Use(protocol);
      Connect();
      std::string to, from;
      std::vector<uint64_t> sizes;
      for (int i = 0; i < 100; ++i) {
        const std::string text = Pattern(10 * i + 1, i);
        to += text;
        sizes.push_back(text.size());
        Tell(Code::kSend, client_, {BytesOf(std::string_view(text))});
        from += "answer";
        Tell(Code::kSend, server_, {BytesOf(std::string_view("answer"))});
        if (i % 10 == 9) Settle();  // DCCP loses data for which its receiver has no space
      }
      for (int i = 0; i < 200 && server_.bytes.size() < to.size(); ++i) Settle();
      EXPECT_TRUE(server_.bytes == to) << server_.bytes.size() << " of " << to.size();
      EXPECT_TRUE(client_.bytes == from);
      EXPECT_EQ(client_.written, to.size());
      if (protocol.messages) {
        EXPECT_EQ(Sizes(server_), sizes);
      }
      CloseAll();
    }
  }
}

TEST_P(ServedConnectionsTest, WhatIsSentBeforeTheConnectionStandsArrives) {
  for (const Protocol& protocol : Protocols()) {
    Use(protocol);
    Listen();
    Open(client_);
    Tell(Code::kConnect, client_, {BytesOf(Local(kPort))});
    Send(client_, "early");
    Send(client_, "too");
    Tell(Code::kClose, client_, {});
    for (int i = 0; i < 20 && !server_.ended; ++i) Settle();
    EXPECT_EQ(server_.bytes, "earlytoo");
    EXPECT_TRUE(server_.ended);
    for (const Peer* peer : {&server_, &listener_}) Tell(Code::kClose, *peer, {});
    Settle();
  }
}

TEST_P(ServedConnectionsTest, AReaderWithoutCreditStopsTheSender) {
  constexpr uint64_t kPiece = 1000, kCount = 4000;
  for (const Protocol& protocol : Protocols()) {
    if (protocol.protocol == IPPROTO_DCCP) continue;  // DCCP has no flow control (RFC 4340)
    Use(protocol);
    Connect(1000);
    for (uint64_t i = 0; i < kCount; ++i) SendZeros(client_, kPiece);
    Settle();
    EXPECT_EQ(server_.bytes.size(), 1000u);
    EXPECT_LT(client_.written, kCount * kPiece);
    Tell(Code::kCredit, server_, {BytesOf(kPlenty)});
    for (int i = 0; i < 400 && server_.bytes.size() < kCount * kPiece; ++i) Settle();
    EXPECT_EQ(server_.bytes.size(), kCount * kPiece);
    EXPECT_EQ(client_.written, kCount * kPiece);
    CloseAll();
  }
}

TEST_P(ServedConnectionsTest, LongMessagesOfSctpAreWhole) {
  Use(kProtocols[0]);
  Connect(500);  // a credit smaller than a message, which must not truncate the message
  const std::string text = Pattern(60'000, 5);
  for (int i = 0; i < 3; ++i) Tell(Code::kSend, client_, {BytesOf(std::string_view(text))});
  Tell(Code::kSend, client_, {BytesOf(uint64_t{50'000})}, agent::kZeros);
  Settle();
  Tell(Code::kCredit, server_, {BytesOf(kPlenty)});
  for (int i = 0; i < 20 && server_.messages.size() < 4; ++i) Settle();
  EXPECT_THAT(Sizes(server_), ElementsAre(60'000, 60'000, 60'000, 50'000));
  EXPECT_TRUE(server_.bytes == text + text + text + std::string(50'000, '\0'));
}

TEST_P(ServedConnectionsTest, AnEmptyMessageOfDccpIsNotItsEnd) {
  if (Protocols().size() < std::size(kProtocols)) GTEST_SKIP() << "this kernel has no DCCP";
  Use(kProtocols[1]);
  Connect();
  for (const char* text : {"one", "", "", "two", ""}) {
    Tell(Code::kSend, client_, {BytesOf(std::string_view(text))});
  }
  for (int i = 0; i < 20 && server_.messages.size() < 5; ++i) Settle();
  EXPECT_THAT(Sizes(server_), ElementsAre(3, 0, 0, 3, 0));
  EXPECT_FALSE(server_.ended);
  Send(client_, "last");
  Tell(Code::kClose, client_, {});
  for (int i = 0; i < 20 && !server_.ended; ++i) Settle();
  EXPECT_EQ(server_.bytes, "onetwolast");
  EXPECT_TRUE(server_.ended);
  EXPECT_EQ(server_.messages.size(), 6u);
}

TEST_P(ServedConnectionsTest, AnAbortBreaksTheOtherEnd) {
  for (const Protocol& protocol : Protocols()) {
    // A DCCP peer cannot distinguish an abort from a close.
    if (protocol.protocol == IPPROTO_DCCP) continue;
    Use(protocol);
    Connect();
    Send(client_, "before");
    Settle();
    EXPECT_EQ(server_.bytes, "before");
    Tell(Code::kClose, client_, {}, agent::kAbort);
    for (int i = 0; i < 20 && server_.broken == 0; ++i) Settle();
    EXPECT_EQ(server_.broken, ECONNRESET) << protocol.name;
    for (const Peer* peer : {&server_, &listener_}) Tell(Code::kClose, *peer, {});
    Settle();
  }
}

TEST_P(ServedConnectionsTest, RefusedConnectionsSendNothing) {
  for (const Protocol& protocol : Protocols()) {
    Use(protocol);
    Open(client_);
    Tell(Code::kConnect, client_, {BytesOf(Local(kPort))});
    Send(client_, "lost");
    for (int i = 0; i < 20 && client_.failures.empty(); ++i) Settle();
    ASSERT_FALSE(client_.failures.empty()) << protocol.name;
    EXPECT_EQ(client_.failures[0], std::make_pair(Code::kConnect, ECONNREFUSED)) << protocol.name;
    Tell(Code::kClose, client_, {});
    Settle();
  }
}

}  // namespace
}  // namespace viaduct::guest
