#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <deque>
#include <optional>

#include "base/clock.h"
#include "remote/claim/control_client.h"
#include "remote/claim/control_server.h"

namespace viaduct::claim {
namespace {

const Duration kTimeout = Duration::Seconds(10);

Key KeyOf(uint8_t number) {
  Key key;
  key.secret.fill(number);
  return key;
}

wire::IpAddress Address(const char* text) { return wire::IpAddress::Parse(text); }

// Returns a blocking TCP connection to a port of this machine.
UniqueFd ConnectTo(uint16_t port) {
  UniqueFd connection(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in there{};
  there.sin_family = AF_INET;
  there.sin_port = htons(port);
  there.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  SystemCall("connect",
             connect(connection.get(), reinterpret_cast<sockaddr*>(&there), sizeof there));
  return connection;
}

class ControlTest : public testing::Test {
 protected:
  struct Client {
    std::vector<Offer> offers;
    std::optional<wire::IpAddress> hub;
    std::vector<std::string> troubles;
    bool was_answer = false;
    std::unique_ptr<ControlClient> control;
  };

  ControlTest() { Serve(); }

  static ServerOptions Defaults() {
    ServerOptions options;
    options.key = KeyOf(1);
    options.port = 0;
    options.nodes = {"n1", "n2"};
    options.beat = Duration::Milliseconds(20);
    options.silence = Duration::Milliseconds(300);
    options.timeout = Duration::Milliseconds(300);
    return options;
  }

  void Serve() { Serve(Defaults()); }
  void Serve(ServerOptions options) {
    server_.reset();
    options.claim = [this](const Claim& claim) {
      claims_.push_back(claim);
      if (claim.node == forbidden_) throw Error("not today");
      Offer offer;
      offer.vni = claim.node == "n1" ? 1 : 2;
      offer.port = 4789;
      offer.addresses = {wire::IpPrefix::Parse("10.0.0.2/30")};
      return offer;
    };
    options.release = [this](const std::string& node) { released_.push_back(node); };
    server_ = std::make_unique<ControlServer>(loop_, options);
  }

  static HubName Hub(const std::string& host, uint16_t port) { return {host, port}; }

  Client& Join(std::optional<std::string> node, const std::string& host = "127.0.0.1",
               uint8_t key = 1, uint16_t port = 0) {
    Client& client = clients_.emplace_back();
    ClientOptions options;
    options.key = KeyOf(key);
    options.hub = {host, port == 0 ? server_->port() : port};
    options.node = std::move(node);
    options.beat = Duration::Milliseconds(20);
    options.silence = Duration::Milliseconds(300);
    options.pause = Duration::Milliseconds(50);
    options.claimed = [&client](const Offer& offer, const wire::IpAddress& hub) {
      client.offers.push_back(offer);
      client.hub = hub;
    };
    options.trouble = [&client](const std::string& why, bool is_answer) {
      client.troubles.push_back(why);
      client.was_answer = is_answer;
    };
    client.control = std::make_unique<ControlClient>(loop_, options);
    return client;
  }

  template <class Condition>
  [[nodiscard]] bool Await(const Condition& condition) {
    return loop_.Run(condition, MonotonicClock::Now() + kTimeout);
  }
  void Pass(Duration time) {
    loop_.Run([] { return false; }, MonotonicClock::Now() + time);
  }

  sys::EventLoop loop_;
  std::vector<Claim> claims_;
  std::vector<std::string> released_;
  std::string forbidden_;
  std::unique_ptr<ControlServer> server_;
  std::deque<Client> clients_;
};

TEST_F(ControlTest, AClientThatCannotBeTheNodeSaysSo) {
  Client& client = Join("n1");
  ASSERT_TRUE(Await([&] { return client.offers.size() == 1; }));
  ASSERT_EQ(claims_.size(), 1u);
  EXPECT_FALSE(claims_.front().wireguard);
  client.control->NoteFailure();
  client.control.reset();
  ASSERT_TRUE(Await([&] { return released_.size() == 1; }));
  EXPECT_EQ(server_->counters().given_back, 1u);
  Client& next = Join("n1");
  ASSERT_TRUE(Await([&] { return next.offers.size() == 1; })) << "the node is free at once";
  EXPECT_EQ(server_->counters().given_back, 1u);
}

// A client that gave up before it got the offer cannot return to the node. The client claims the
// node again as a new client.
TEST_F(ControlTest, ANodeIsNotKeptForAClientThatDoesNotKnowOfIt) {
  ServerOptions options = Defaults();
  options.confirms = true;
  Serve(options);
  Client& first = Join("n1");
  ASSERT_TRUE(Await([&] { return claims_.size() == 1; }));
  first.control.reset();
  ASSERT_TRUE(Await([&] { return released_.size() == 1; }));
  Client& second = Join("n1");
  ASSERT_TRUE(Await([&] { return claims_.size() == 2; }));
  server_->Confirm("n1");
  ASSERT_TRUE(Await([&] { return !second.offers.empty(); }));
  EXPECT_TRUE(second.troubles.empty());
}

TEST_F(ControlTest, AClientGetsItsNode) {
  for (const char* host : {"127.0.0.1", "::1"}) {
    Client& client = Join("n2", host);
    ASSERT_TRUE(Await([&] { return !client.offers.empty(); })) << host;
    EXPECT_EQ(client.offers[0].node, "n2");
    EXPECT_EQ(client.offers[0].vni, 2u);
    EXPECT_EQ(client.hub, Address(host));
    EXPECT_EQ(server_->Clients().at("n2"), Address(host));
    EXPECT_EQ(claims_.back().client, Address(host));
    EXPECT_FALSE(claims_.back().has_returned);
    client.control.reset();
    ASSERT_TRUE(Await([&] { return server_->counters().clients == 0; })) << "it leaves";
    EXPECT_EQ(released_.back(), "n2");
  }
  EXPECT_EQ(server_->counters().claims, 2u);
}

TEST_F(ControlTest, BothEndsStayWhileTheyAreAlive) {
  Client& client = Join("n1");
  ASSERT_TRUE(Await([&] { return !client.offers.empty(); }));
  Pass(Duration::Milliseconds(700));
  EXPECT_EQ(server_->Clients().size(), 1u);
  EXPECT_EQ(client.offers.size(), 1u);
  EXPECT_TRUE(client.troubles.empty());
}

TEST_F(ControlTest, WithoutTheKeyThereIsNoNode) {
  Client& client = Join("n1", "127.0.0.1", 2);
  ASSERT_TRUE(Await([&] { return !client.troubles.empty(); }));
  EXPECT_EQ(client.troubles[0], "the hub has another key");
  EXPECT_TRUE(client.was_answer);
  EXPECT_GE(server_->counters().wrong_key, 1u);
  EXPECT_TRUE(claims_.empty());
}

TEST_F(ControlTest, ANodeHasOneClient) {
  Client& first = Join("n1");
  ASSERT_TRUE(Await([&] { return !first.offers.empty(); }));
  Client& second = Join("n1");
  ASSERT_TRUE(Await([&] { return !second.troubles.empty(); }));
  EXPECT_EQ(second.troubles[0], "node n1 has the client 127.0.0.1");
  second.control.reset();
  Client& third = Join(std::nullopt);
  ASSERT_TRUE(Await([&] { return !third.offers.empty(); }));
  EXPECT_EQ(third.offers[0].node, "n2");
  Client& fourth = Join(std::nullopt);
  ASSERT_TRUE(Await([&] { return !fourth.troubles.empty(); }));
  EXPECT_EQ(fourth.troubles[0], "all 2 nodes have a client");
  Client& fifth = Join("n3");
  ASSERT_TRUE(Await([&] { return !fifth.troubles.empty(); }));
  EXPECT_NE(fifth.troubles[0].find("no node n3"), std::string::npos);
  EXPECT_GE(server_->counters().taken, 1u);
  EXPECT_GE(server_->counters().none_free, 1u);
  EXPECT_GE(server_->counters().unknown_node, 1u);
  EXPECT_EQ(first.offers.size(), 1u);
}

TEST_F(ControlTest, TheHubMayRefuse) {
  forbidden_ = "n1";
  Client& client = Join("n1");
  ASSERT_TRUE(Await([&] { return !client.troubles.empty(); }));
  EXPECT_EQ(client.troubles[0], "not today");
  EXPECT_EQ(server_->counters().claims, 0u);
  EXPECT_TRUE(released_.empty());
}

TEST_F(ControlTest, AnOfferWaitsUntilItIsTrue) {
  ServerOptions options = Defaults();
  options.confirms = true;
  Serve(options);
  Client& client = Join("n1");
  ASSERT_TRUE(Await([&] { return claims_.size() == 1; }));
  server_->Confirm("n2");  // no client waits for n2
  Pass(Duration::Milliseconds(100));
  EXPECT_TRUE(client.offers.empty());
  server_->Confirm("n1");
  ASSERT_TRUE(Await([&] { return !client.offers.empty(); }));
  server_->Confirm("n1");
  Pass(Duration::Milliseconds(100));
  EXPECT_EQ(client.offers.size(), 1u);
  EXPECT_TRUE(client.troubles.empty());
}

// A client that sends only the lines that the test passes to it.
class Puppet {
 public:
  Puppet(uint16_t port, uint8_t key)
      : context_(TlsContext::Role::kClient, KeyOf(key)),
        channel_(ConnectTo(port), context_, kMaxOffer) {}
  void Say(const std::string& line) { channel_.Send(line); }
  // Returns the first line that is not a heartbeat.
  std::optional<std::string> Listen() {
    for (const std::string& line : channel_.Serve()) {
      if (line != Encode(Alive{})) return line;
    }
    return std::nullopt;
  }
  bool IsOpen() {
    if (!channel_.IsOpen()) channel_.Serve();
    return channel_.IsOpen();
  }

 private:
  TlsContext context_;
  Channel channel_;
};

class VanishingTest : public ControlTest {
 protected:
  // Claims n1 and sends nothing afterwards, with its connection open.
  std::string ClaimAndBeSilent() {
    puppet_.emplace(server_->port(), 1);
    EXPECT_TRUE(Await([&] { return puppet_->IsOpen(); }));
    puppet_->Say(Encode(Request{"n1", ""}));
    std::optional<std::string> answer;
    EXPECT_TRUE(Await([&] { return (answer = puppet_->Listen()).has_value(); }));
    puppet_->Say(Encode(Alive{}));
    return std::get<Offer>(ParseFromHub(answer.value_or("{}"))).session;
  }

  std::optional<Puppet> puppet_;
};

TEST_F(VanishingTest, ASilentClientLosesItsNodeAndGetsItBack) {
  const std::string session = ClaimAndBeSilent();
  ASSERT_TRUE(Await([&] { return server_->counters().clients == 0; }));
  EXPECT_EQ(released_, std::vector<std::string>{"n1"});
  EXPECT_EQ(server_->counters().silent, 1u);
  Client& other = Join("n1");
  ASSERT_TRUE(Await([&] { return !other.troubles.empty(); }));
  EXPECT_NE(other.troubles[0].find("is reserved for its client"), std::string::npos);
  other.control.reset();
  Puppet returned(server_->port(), 1);
  ASSERT_TRUE(Await([&] { return returned.IsOpen(); }));
  returned.Say(Encode(Request{std::nullopt, session}));
  ASSERT_TRUE(Await([&] { return server_->counters().clients == 1; }));
  EXPECT_EQ(claims_.back().node, "n1");
  EXPECT_TRUE(claims_.back().has_returned);
  EXPECT_EQ(server_->counters().returns, 1u);
}

TEST_F(VanishingTest, AClientReturnsBeforeItWasMissed) {
  const std::string session = ClaimAndBeSilent();
  Puppet returned(server_->port(), 1);
  ASSERT_TRUE(Await([&] { return returned.IsOpen(); }));
  returned.Say(Encode(Request{"n1", session}));
  ASSERT_TRUE(Await([&] { return claims_.size() == 2; }));
  EXPECT_EQ(released_, std::vector<std::string>{"n1"}) << "of its former connection";
  EXPECT_EQ(server_->counters().clients, 1u);
}

TEST_F(VanishingTest, ANodeIsNotKeptForEver) {
  ServerOptions options = Defaults();
  options.reservation = Duration::Milliseconds(100);
  Serve(options);
  ClaimAndBeSilent();
  Client& other = Join("n1");
  ASSERT_TRUE(Await([&] { return !other.offers.empty(); }));
  EXPECT_EQ(released_, std::vector<std::string>{"n1"});
}

TEST_F(VanishingTest, WhatNoClientSaysEndsItsClaim) {
  ClaimAndBeSilent();
  puppet_->Say("{\"claim\": 7, \"version\": 1}");
  ASSERT_TRUE(Await([&] { return server_->counters().clients == 0; }));
  EXPECT_EQ(server_->counters().malformed, 1u);
  EXPECT_EQ(released_, std::vector<std::string>{"n1"});
}

TEST_F(VanishingTest, ASecondClaimEndsTheFirst) {
  ClaimAndBeSilent();
  puppet_->Say(Encode(Request{"n2", ""}));
  ASSERT_TRUE(Await([&] { return server_->counters().clients == 0; }));
  EXPECT_EQ(server_->counters().malformed, 1u);
}

TEST_F(ControlTest, AClientFindsAHubThatWasStartedAgain) {
  Client& client = Join(std::nullopt);
  ASSERT_TRUE(Await([&] { return !client.offers.empty(); }));
  const uint16_t port = server_->port();
  server_.reset();
  ASSERT_TRUE(Await([&] { return client.troubles.size() >= 2; })) << "it tries on";
  EXPECT_FALSE(client.was_answer);
  ServerOptions options = Defaults();
  options.port = port;
  options.nodes = {"n0", "n1"};
  Serve(options);
  ASSERT_TRUE(Await([&] { return client.offers.size() == 2; }));
  EXPECT_EQ(client.offers[1].node, "n1") << "the one that it had, not any";
  EXPECT_NE(client.offers[1].session, client.offers[0].session);
}

// A machine between client and hub records the client's bytes, and sends them again.
TEST_F(ControlTest, AReplayedClientGetsNothing) {
  UniqueFd listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in own{};
  own.sin_family = AF_INET;
  own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof own;
  ASSERT_EQ(bind(listener.get(), reinterpret_cast<sockaddr*>(&own), sizeof own), 0);
  ASSERT_EQ(listen(listener.get(), 1), 0);
  ASSERT_EQ(getsockname(listener.get(), reinterpret_cast<sockaddr*>(&own), &length), 0);
  std::string heard;
  UniqueFd in, out;
  const auto forward = [&](const UniqueFd& from, const UniqueFd& to, std::string* kept) {
    char bytes[4096];
    const ssize_t got = recv(from.get(), bytes, sizeof bytes, MSG_DONTWAIT);
    if (got <= 0) return loop_.Forget(from.get());
    if (kept != nullptr) kept->append(bytes, static_cast<size_t>(got));
    (void)!send(to.get(), bytes, static_cast<size_t>(got), MSG_NOSIGNAL);
  };
  loop_.Watch(listener.get(), [&] {
    in = UniqueFd(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    out = ConnectTo(server_->port());
    loop_.Watch(in.get(), [&] { forward(in, out, &heard); });
    loop_.Watch(out.get(), [&] { forward(out, in, nullptr); });
  });
  Client& client = Join("n1", "127.0.0.1", 1, ntohs(own.sin_port));
  ASSERT_TRUE(Await([&] { return !client.offers.empty(); }));
  client.control.reset();
  ASSERT_TRUE(Await([&] { return server_->counters().clients == 0; }));
  loop_.Forget(listener.get());
  ASSERT_GT(heard.size(), 300u);

  const UniqueFd again = ConnectTo(server_->port());
  ASSERT_EQ(send(again.get(), heard.data(), heard.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(heard.size()));
  ASSERT_TRUE(Await([&] { return server_->counters().no_handshake == 1; }));
  EXPECT_EQ(claims_.size(), 1u);
}

TEST_F(ControlTest, GarbageIsRefusedAndCounted) {
  const UniqueFd stranger = ConnectTo(server_->port());
  const std::string text = "GET / HTTP/1.1\r\n\r\n" + std::string(100, 'x');
  (void)!write(stranger.get(), text.data(), text.size());
  ASSERT_TRUE(Await([&] { return server_->counters().no_handshake == 1; }));
  EXPECT_TRUE(claims_.empty());
}

TEST_F(ControlTest, WhoSaysNothingIsSentAway) {
  const UniqueFd stranger = ConnectTo(server_->port());
  ASSERT_TRUE(Await([&] { return server_->counters().too_slow == 1; }));
  char byte;
  EXPECT_EQ(recv(stranger.get(), &byte, 1, MSG_DONTWAIT), 0) << "the connection is closed";
  // A client that has the key but claims no node must be dropped, too.
  Puppet keyed(server_->port(), 1);
  ASSERT_TRUE(Await([&] { return keyed.IsOpen(); }));
  ASSERT_TRUE(Await([&] { return server_->counters().too_slow == 2; }));
}

TEST_F(ControlTest, ManyUnauthenticatedConnectionsAreInNobodysWay) {
  ServerOptions options = Defaults();
  options.max_unauthenticated = 4;
  options.timeout = kTimeout;
  Serve(options);
  std::vector<UniqueFd> strangers;
  strangers.reserve(50);
  for (int i = 0; i < 50; ++i) strangers.push_back(ConnectTo(server_->port()));
  ASSERT_TRUE(Await([&] { return server_->counters().too_many >= 46; }));
  for (const char* host : {"::1", "127.0.0.1"}) {
    Client& client = Join(std::nullopt, host);
    ASSERT_TRUE(Await([&] { return !client.offers.empty(); })) << host;
  }
}

TEST(HubNameTest, IsReadAsItIsWritten) {
  EXPECT_EQ(HubName::Parse("hub").port, kDefaultPort);
  EXPECT_EQ(HubName::Parse("hub:99").port, 99);
  EXPECT_EQ(HubName::Parse("2001:db8::1").host, "2001:db8::1");
  EXPECT_EQ(HubName::Parse("[2001:db8::1]").port, kDefaultPort);
  EXPECT_EQ(HubName::Parse("[2001:db8::1]:99").port, 99);
  EXPECT_EQ(HubName::Parse("[2001:db8::1]:99").ToString(), "[2001:db8::1]:99");
  for (const char* bad : {"", ":", "hub:", "hub:0", "hub:65536", "hub:9x", "[::1", "[::1]9",
                          "[::1]:", ":99", "[]:9"}) {
    EXPECT_THROW(HubName::Parse(bad), UsageError) << bad;
  }
}

}  // namespace
}  // namespace viaduct::claim
