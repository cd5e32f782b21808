#include "run/watch/metrics_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"

namespace viaduct::watch {
namespace {

using testing::EndsWith, testing::HasSubstr, testing::StartsWith;

std::string Text() { return "a 1\n"; }

TEST(RespondTest, ThereIsOnePage) {
  const std::string page = Respond("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", false, Text);
  EXPECT_THAT(page, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(page, HasSubstr("Content-Length: 4\r\n"));
  EXPECT_THAT(page, HasSubstr("Content-Type: text/plain; version=0.0.4"));
  EXPECT_THAT(page, EndsWith("\r\n\r\na 1\n"));
  EXPECT_THAT(Respond("GET /metrics?x=y HTTP/1.0\r\n\r\n", false, Text),
              StartsWith("HTTP/1.1 200 "));
  const std::string head = Respond("HEAD /metrics HTTP/1.1\r\n\r\n", false, Text);
  EXPECT_THAT(head, HasSubstr("Content-Length: 4\r\n"));
  EXPECT_THAT(head, EndsWith("\r\n\r\n"));
}

TEST(RespondTest, WhateverElseIsRefused) {
  const auto status = [](const std::string& line) {
    return Respond(line + "\r\n\r\n", false, Text).substr(9, 3);
  };
  EXPECT_EQ(status("GET / HTTP/1.1"), "404");
  EXPECT_EQ(status("GET /metrics/x HTTP/1.1"), "404");
  EXPECT_EQ(status("POST /metrics HTTP/1.1"), "405");
  for (const char* line : {"", " ", "GET", "GET /metrics", "GET /metrics HTTP/2", "\x16\x03\x01"}) {
    EXPECT_EQ(status(line), "400") << line;
  }
  const auto fails = []() -> std::string { throw Error("no records"); };
  EXPECT_THAT(Respond("GET /metrics HTTP/1.1\r\n\r\n", false, fails), HasSubstr(" 500 "));
}

TEST(RespondTest, NoOtherHostIsServedOnLoopback) {
  const auto status = [](const std::string& fields) {
    return Respond("GET /metrics HTTP/1.1\r\n" + fields + "\r\n", true, Text).substr(9, 3);
  };
  for (const char* host : {"localhost", "LocalHost:9100", "127.0.0.1:9100", "127.0.0.2", "[::1]:9",
                           "[::1]", " 127.0.0.1 "}) {
    EXPECT_EQ(status(std::string("Host: ") + host + "\r\n"), "200") << host;
  }
  for (const char* host : {"evil.example", "evil.example:9100", "127.0.0.1.evil.example", "",
                           "[::1", "10.0.0.1", "localhost.evil.example", "[::2]"}) {
    EXPECT_EQ(status(std::string("hOST:") + host + "\r\n"), "421") << host;
  }
  EXPECT_EQ(status("Host: localhost\r\nHost: evil.example\r\n"), "421");
  EXPECT_EQ(status("Accept: */*\r\n"), "200") << "no browser";
}

class MetricsServerTest : public testing::TestWithParam<const char*> {
 protected:
  MetricsServerTest() : server_(loop_, wire::IpAddress::Parse(GetParam()), 0, Text) {}

  UniqueFd Connect() const {
    const bool ipv4 = wire::IpAddress::Parse(GetParam()).family == wire::Family::kIpv4;
    UniqueFd client(socket(ipv4 ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in own{AF_INET, htons(server_.port()), {htonl(INADDR_LOOPBACK)}, {}};
    sockaddr_in6 own6{AF_INET6, htons(server_.port()), 0, in6addr_loopback, 0};
    const auto* address =
        ipv4 ? reinterpret_cast<const sockaddr*>(&own) : reinterpret_cast<const sockaddr*>(&own6);
    const int done = connect(client.get(), address, ipv4 ? sizeof own : sizeof own6);
    EXPECT_EQ(done, 0);
    return client;
  }
  static void Send(const UniqueFd& client, const std::string& text) {
    EXPECT_EQ(send(client.get(), text.data(), text.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(text.size()));
  }
  // Returns all text that is received until the other end closes the connection.
  std::string Receive(const UniqueFd& client) {
    std::string text;
    const Instant end = MonotonicClock::Now() + Duration::Seconds(10);
    loop_.Run(
        [&] {
          char buffer[1000];
          const ssize_t got = recv(client.get(), buffer, sizeof buffer, MSG_DONTWAIT);
          if (got > 0) text.append(buffer, static_cast<size_t>(got));
          loop_.At(MonotonicClock::Now() + Duration::Milliseconds(1), [] {});
          return got == 0 || (got < 0 && errno != EAGAIN);
        },
        end);
    return text;
  }

  sys::EventLoop loop_;
  MetricsServer server_;
};

TEST_P(MetricsServerTest, ServesInPieces) {
  const UniqueFd client = Connect();
  Send(client, "GET /metr");
  loop_.Run([] { return false; }, MonotonicClock::Now() + Duration::Milliseconds(20));
  Send(client, "ics HTTP/1.1\r\n\r\n");
  EXPECT_THAT(Receive(client), EndsWith("\r\n\r\na 1\n"));
}

TEST_P(MetricsServerTest, ACrowdAndWhoSaysTooMuchDoNoHarm) {
  std::vector<UniqueFd> idle(40);
  for (UniqueFd& each : idle) each = Connect();
  loop_.Run([] { return false; }, MonotonicClock::Now() + Duration::Milliseconds(20));
  const UniqueFd last = Connect();
  Send(last, "GET /metrics HTTP/1.1\r\n\r\n");
  Send(idle.back(), std::string(10000, 'x'));
  EXPECT_THAT(Receive(idle.back()), HasSubstr(" 431 "));
  const Instant asked = MonotonicClock::Now();
  EXPECT_THAT(Receive(last), EndsWith("\r\n\r\na 1\n"));
  EXPECT_LT(MonotonicClock::Now() - asked, Duration::Seconds(4)) << "it waits for nobody";
}

INSTANTIATE_TEST_SUITE_P(Families, MetricsServerTest, testing::Values("127.0.0.1", "::1"));

}  // namespace
}  // namespace viaduct::watch
