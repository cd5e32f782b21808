// Tests of TCP sockets on a real kernel. Each test runs with connections served by the agent and
// with connections served by the kernel, which must behave in the same way. The tests need an image
// (viaduct kernel build), but no privilege.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "guest/agent/program_client.h"
#include "guest/test/served_peers.h"

namespace viaduct::guest {
namespace {

using agent::BytesOf;
using agent::Code;
using testing::HasSubstr;

class ServedSocketsTest : public ServedPeersTest {};

INSTANTIATE_TEST_SUITE_P(Ways, ServedSocketsTest,
                         testing::Combine(testing::ValuesIn(kPlaces), testing::Bool()), WayName);

TEST_P(ServedSocketsTest, BytesArriveInBothDirectionsOfBothFamilies) {
  for (const int family : {AF_INET, AF_INET6}) {
    family_ = family;
    client_ = {};
    server_ = {};
    Connect();
    const std::string to = Pattern(900'000, 1), from = Pattern(700'000, 2);
    Send(client_, to);
    Send(server_, from);
    Settle();
    EXPECT_TRUE(server_.bytes == to) << server_.bytes.size();
    EXPECT_TRUE(client_.bytes == from) << client_.bytes.size();
    EXPECT_EQ(client_.written, to.size());
    EXPECT_EQ(server_.written, from.size());
    Tell(Code::kClose, listener_, {});
    Settle();
  }
}

TEST_P(ServedSocketsTest, ZerosAmongBytesKeepTheirPlace) {
  Connect();
  Send(client_, "before");
  SendZeros(client_, 300'000);
  Send(client_, "after");
  Settle();
  EXPECT_TRUE(server_.bytes == "before" + std::string(300'000, '\0') + "after");
}

TEST_P(ServedSocketsTest, WhatIsSentBeforeTheConnectionStandsArrives) {
  Listen();
  Open(client_);
  Tell(Code::kConnect, client_, {BytesOf(Local(kPort))});
  Send(client_, "early");
  EndSending(client_);
  Settle();
  EXPECT_EQ(server_.bytes, "early");
  EXPECT_TRUE(server_.ended);
  EXPECT_EQ(client_.written, 5u);
}

TEST_P(ServedSocketsTest, AReaderWithoutCreditStopsTheSender) {
  constexpr uint64_t kTotal = 32 << 20;
  Connect(1000);
  SendZeros(client_, kTotal);
  Settle();
  EXPECT_EQ(server_.bytes.size(), 1000u);
  EXPECT_LT(client_.written, kTotal);  // only as much as the buffers hold was accepted
  EndSending(client_);                 // the end follows the data that was sent before
  Settle();
  EXPECT_FALSE(server_.ended);
  server_.on_data = [this](uint64_t size) {
    Tell(Code::kCredit, server_, {BytesOf(size)});
    server_.bytes.clear();
    server_.option += static_cast<int>(size);
  };
  server_.option = 0;
  Tell(Code::kCredit, server_, {BytesOf(uint64_t{200'000})});
  Settle();
  EXPECT_EQ(server_.option, static_cast<int>(kTotal) - 1000);
  EXPECT_EQ(client_.written, kTotal);
  EXPECT_TRUE(server_.ended);
}

TEST_P(ServedSocketsTest, OneDirectionEndsBeforeTheOther) {
  Connect();
  Send(client_, "question");
  EndSending(client_);
  Settle();
  EXPECT_EQ(server_.bytes, "question");
  EXPECT_TRUE(server_.ended);
  EXPECT_FALSE(client_.ended);
  Send(server_, "answer");
  Tell(Code::kClose, server_, {});
  Settle();
  EXPECT_EQ(client_.bytes, "answer");
  EXPECT_TRUE(client_.ended);
  EXPECT_EQ(client_.broken, 0);
}

TEST_P(ServedSocketsTest, CloseSendsWhatIsPending) {
  constexpr uint64_t kTotal = 16 << 20;
  Connect(0);
  SendZeros(client_, kTotal);
  Tell(Code::kClose, client_, {});
  Settle();
  EXPECT_EQ(server_.bytes.size(), 0u);
  Tell(Code::kCredit, server_, {BytesOf(kPlenty)});
  Settle();
  EXPECT_EQ(server_.bytes.size(), kTotal);
  EXPECT_TRUE(server_.ended);
  EXPECT_EQ(server_.broken, 0);
}

TEST_P(ServedSocketsTest, AbortDropsWhatIsPendingAndResets) {
  Connect(1000);
  SendZeros(client_, 16 << 20);
  Settle();
  Tell(Code::kClose, client_, {}, agent::kAbort);
  Settle();
  EXPECT_EQ(server_.broken, ECONNRESET);
  Send(server_, "too late");
  Settle();
  ASSERT_FALSE(server_.failures.empty());
  EXPECT_EQ(server_.failures[0], std::make_pair(Code::kSend, EPIPE));
  EXPECT_EQ(server_.written, 8u);
}

TEST_P(ServedSocketsTest, RefusedConnectionSendsNothing) {
  Open(client_);
  Tell(Code::kConnect, client_, {BytesOf(Local(kPort))});
  Send(client_, "lost");
  Settle();
  ASSERT_EQ(client_.failures.size(), 1u);
  EXPECT_EQ(client_.failures[0], std::make_pair(Code::kConnect, ECONNREFUSED));
  Send(client_, "lost");
  Settle();
  ASSERT_EQ(client_.failures.size(), 2u);
  EXPECT_EQ(client_.failures[1], std::make_pair(Code::kSend, EPIPE));
}

TEST_P(ServedSocketsTest, OptionsReachTheSocketInOrder) {
  Connect();
  const agent::SocketOption no_delay{IPPROTO_TCP, TCP_NODELAY};
  for (const int on : {1, 0, 1}) {
    Tell(Code::kSetOption, client_, {BytesOf(no_delay), BytesOf(on)});
    Tell(Code::kGetOption, client_, {BytesOf(no_delay)});
    Settle();
    EXPECT_EQ(client_.option, on);
  }
  Tell(Code::kSetOption, client_, {BytesOf(agent::SocketOption{IPPROTO_TCP, 9999}), BytesOf(1)});
  Settle();
  ASSERT_EQ(client_.failures.size(), 1u);
  EXPECT_EQ(client_.failures[0], std::make_pair(Code::kSetOption, ENOPROTOOPT));
}

TEST_P(ServedSocketsTest, UrgentByteIsLeftOutOfTheStream) {
  Listen();
  ProgramRequest request;
  request.node = node_;
  request.environment = DefaultEnvironment();
  request.words = {"/usr/bin/python3", "-c",
                   "import socket\n"
                   "s = socket.create_connection(('127.0.0.1', 5001))\n"
                   "s.send(b'ab')\n"
                   "s.send(b'!', socket.MSG_OOB)\n"
                   "s.send(b'cd')\n"
                   "s.shutdown(socket.SHUT_WR)\n"
                   "assert s.recv(9) == b'ok'\n"};
  int status = -1;
  ProgramEvents events;
  events.exited = [&](int exited) { status = exited; };
  programs_->Start(request, events);
  for (int i = 0; i < 100 && !server_.ended; ++i) Settle();
  EXPECT_EQ(server_.bytes, "abcd");
  EXPECT_TRUE(server_.ended);
  Send(server_, "ok");
  for (int i = 0; i < 100 && status < 0; ++i) Settle();
  EXPECT_EQ(status, 0);
}

TEST_P(ServedSocketsTest, ManyConnectionsAtOnceEndTidily) {
  constexpr size_t kCount = 200;
  std::vector<std::unique_ptr<Peer>> clients, servers;
  Listen();
  listener_.on_accepted = [&](uint32_t accepted) {
    servers.push_back(std::make_unique<Peer>());
    servers.back()->number = accepted;
    agent_->Attach(accepted, servers.back().get());
  };
  for (size_t i = 0; i < kCount; ++i) {
    clients.push_back(std::make_unique<Peer>());
    Open(*clients.back());
    Tell(Code::kConnect, *clients.back(), {BytesOf(Local(kPort))});
    Send(*clients.back(), Pattern(5000, 7));
    Tell(Code::kClose, *clients.back(), {});
    if (i % 4 == 3) Settle();
  }
  Settle();
  ASSERT_EQ(servers.size(), kCount);
  for (const auto& server : servers) {
    EXPECT_TRUE(server->bytes == Pattern(5000, 7));
    EXPECT_TRUE(server->ended);
    Tell(Code::kClose, *server, {});
  }
  Settle();
  EXPECT_TRUE(listener_.failures.empty());
}

TEST_P(ServedSocketsTest, PanickingGuestIsOneError) {
  Connect(1000);
  SendZeros(client_, 1 << 20);
  Settle();
  SendZeros(client_, 1 << 20);
  ProgramRequest request;
  request.node = node_;
  request.environment = DefaultEnvironment();
  request.words = {"sh", "-c", "echo 2 >/proc/sys/vm/panic_on_oom; tail /dev/zero"};
  programs_->Start(request, {});
  try {
    queue_.RunUntil(queue_.Now() + Duration::Seconds(100));
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("kernel guest "));
    EXPECT_THAT(error.what(), HasSubstr("panic_on_oom is enabled"));
  }
}

class NotTakenTest : public ServedSocketsTest {};

INSTANTIATE_TEST_SUITE_P(Ways, NotTakenTest,
                         testing::Combine(testing::ValuesIn(kPlaces), testing::Values(true)),
                         WayName);

TEST_P(NotTakenTest, EndsTheRun) {
  service_->Put({SocketOperation::Code::kAdopt, 77, 9999, false, false}, {});
  try {
    Settle();
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("kernel guest could not hand over a socket"));
    EXPECT_THAT(error.what(), HasSubstr("Bad file descriptor"));
  }
}

}  // namespace
}  // namespace viaduct::guest
