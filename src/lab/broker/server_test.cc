// Tests client and server over a socket pair, with operations that only record the calls.
#include "lab/broker/server.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>
#include <thread>

#include "lab/broker/client.h"
#include "lab/broker/protocol.h"
#include "plane/fib/route_mirror.h"
#include "plane/fib/test_route.h"
#include "sys/descriptors.h"
#include "sys/ipc/answer.h"

namespace viaduct::broker {
namespace {

using ipc::Connection;
using ipc::Member;
using ipc::Message;
using testing::_;
using testing::HasSubstr;
using testing::NiceMock;
using testing::Return;
using testing::Throw;

class MockOperations : public Operations {
 public:
  MOCK_METHOD(void, CreateLab, (const lab::Topology&), (override));
  MOCK_METHOD(void, AdoptLab, (const lab::Topology&), (override));
  MOCK_METHOD(void, TakeInnerSocket, (UniqueFd), (override));
  MOCK_METHOD(void, DestroyLab, (), (override));
  MOCK_METHOD(NodeSocket, OpenPacketSocket, (const PacketSocketOptions&), (override));
  MOCK_METHOD(NodeSocket, OpenControlSocket, (const ControlSocketOptions&), (override));
  MOCK_METHOD(UniqueFd, OpenTransportSocket, (const TransportSocketOptions&), (override));
  MOCK_METHOD(UniqueFd, OpenTun, (const std::string&), (override));
  MOCK_METHOD(void, ApplyRoutes, (const std::string&, const fib::RouteChanges&), (override));
  MOCK_METHOD(const fib::RouteTable&, Routes, (const std::string&), (override));
  MOCK_METHOD(int, IfIndex, (const lab::Endpoint&), (override));
  MOCK_METHOD(void, SetLinkUp, (const std::vector<lab::Endpoint>&, bool), (override));
  MOCK_METHOD(void, SetAddresses, (const lab::Endpoint&, const std::vector<wire::IpPrefix>&),
              (override));
  MOCK_METHOD(UniqueFd, OpenLinkMonitor, (const std::string&), (override));
  MOCK_METHOD(Tables, OpenTables, (const std::string&), (override));
  MOCK_METHOD(std::vector<std::optional<Passage>>, LookUp,
              (const std::string&, const std::vector<wire::IpAddress>&), (override));
  MOCK_METHOD(UniqueFd, OpenUpcalls, (const std::string&, const std::set<wire::Family>&),
              (override));
  MOCK_METHOD(void, SetNeighbours, (const std::string&, const std::vector<lab::Neighbour>&, bool),
              (override));
  MOCK_METHOD(UniqueFd, OpenMulticast,
              (const std::string&, wire::Family, const std::vector<std::string>&), (override));
  MOCK_METHOD(Program, Spawn, (const ProgramOptions&), (override));
  MOCK_METHOD(void, Kill, (int, int), (override));
  MOCK_METHOD(void, NoteKeepersEnd, (), (override));
  MOCK_METHOD(void, NoteSimulator, (const lab::SimulatorHistory&), (override));
  MOCK_METHOD(nlohmann::json, Describe, (), (override));
  MOCK_METHOD(UniqueFd, Detach, (), (override));
  MOCK_METHOD(bool, MayConnect, (uid_t), (const, override));
  MOCK_METHOD(std::vector<int>, Descriptors, (), (const, override));
  MOCK_METHOD(bool, OnReadable, (int), (override));
};

UniqueFd OpenNull() { return UniqueFd(open("/dev/null", O_RDWR | O_CLOEXEC)); }

// Runs a server on a thread until the server's last client has disconnected.
class ServerTest : public testing::Test {
 protected:
  UniqueFd Start() {
    auto pair = sys::MakeSocketPair(SOCK_SEQPACKET);
    thread_ = std::thread([this, socket = std::move(pair.second)]() mutable {
      Server server(operations_);
      server.AddConnection(std::move(socket));
      server.Run();
    });
    return std::move(pair.first);
  }
  void TearDown() override {
    if (thread_.joinable()) thread_.join();
  }

  NiceMock<MockOperations> operations_;
  std::thread thread_;
};

std::string ErrorOf(Connection& connection) {
  Message answer;
  if (connection.Receive(&answer) != Connection::Status::kMessage) return "no message";
  if (answer.code != ipc::Answer::kError) return "no error";
  return Member<std::string>(ipc::DecodeJson(answer.payload), "message");
}

TEST_F(ServerTest, NoProgramIsStartedForWhoHasGone) {
  EXPECT_CALL(operations_, Spawn(_)).Times(0);
  auto [ours, theirs] = sys::MakeSocketPair(SOCK_SEQPACKET);
  ProgramOptions options;
  options.node = "a";
  options.arguments = {"true"};
  Connection(std::move(ours), kService)
      .Send(privilege::ProgramRequest::kSpawn, 1, nlohmann::json(options).dump());
  Server server(operations_);
  server.AddConnection(std::move(theirs));
  server.Run();
}

sys::PacketFilter Port698() { return sys::PacketFilter::Compile("udp port 698"); }

TEST_F(ServerTest, PassesRequestsAndDescriptors) {
  EXPECT_CALL(operations_, OpenPacketSocket(_)).WillOnce([](const PacketSocketOptions& options) {
    EXPECT_EQ(options.node, "a");
    EXPECT_EQ(options.filter.instructions().size(), Port698().instructions().size());
    return NodeSocket{OpenNull(), 42, true};
  });
  EXPECT_CALL(operations_, Kill(17, 9));
  Client client(Start());
  PacketSocketOptions options;
  options.node = "a";
  options.interface = "eth0";
  options.filter = Port698();
  const NodeSocket socket = client.OpenPacketSocket(options);
  EXPECT_EQ(socket.ifindex, 42);
  EXPECT_TRUE(socket.has_qdisc);
  EXPECT_EQ(write(socket.fd.get(), "x", 1), 1);
  EXPECT_NE(fcntl(socket.fd.get(), F_GETFD) & FD_CLOEXEC, 0);
  client.Kill(17, 9);
}

TEST_F(ServerTest, PassesTenThousandRoutes) {
  fib::RouteChanges changes;
  for (uint32_t i = 0; i < 10000; ++i) {
    changes.added.push_back(fib::test::MakeRoute("10.0.0.0/32", ""));
    changes.added.back().destination.address = wire::IpAddress::FromIpv4(0x0A000000 + i);
  }
  EXPECT_CALL(operations_, ApplyRoutes("a", _))
      .WillOnce([&](const std::string&, const fib::RouteChanges& received) {
        EXPECT_EQ(received.added, changes.added);
      });
  Client client(Start());
  client.ApplyRoutes("a", changes);
}

TEST_F(ServerTest, TellsWhichRoutesWereRefused) {
  fib::RouteChanges changes;
  changes.added = {fib::test::MakeRoute("10.1.0.0/16", ""),
                   fib::test::MakeRoute("2001:db8::/32", "fe80::1", 7)};
  const std::vector<fib::RefusedRoute> refused{{changes.added[1], "it is full"}};
  EXPECT_CALL(operations_, ApplyRoutes("a", _)).WillOnce(Throw(fib::RouteError(refused, 2)));
  fib::RouteMirror mirror(
      std::make_shared<NodeRoutes>(std::make_shared<Client>(Start()), std::string("a")));
  fib::RouteTable wanted;
  for (const fib::Route& route : changes.added) wanted[fib::KeyOf(route)] = route;
  EXPECT_EQ(mirror.Update(wanted).refusal, fib::RouteError(refused, 2).what());
  EXPECT_EQ(mirror.installed().size(), 1u);
  EXPECT_TRUE(mirror.installed().contains(fib::KeyOf(changes.added[0])));
}

TEST_F(ServerTest, ReadsRoutesThatFitNoMessage) {
  fib::RouteTable table;
  for (uint32_t i = 0; i < 300000; ++i) {  // each route takes 56 bytes in the reply
    fib::Route route = fib::test::MakeRoute("10.0.0.0/32", "", 3);
    route.destination.address = wire::IpAddress::FromIpv4(0x0A000000 + i);
    table[fib::KeyOf(route)] = route;
  }
  fib::Route several = fib::test::MakeRoute("2001:db8::/32", "fe80::1", 7);
  several.next_hops.push_back({wire::IpAddress::Parse("fe80::2"), "eth1"});
  table[fib::KeyOf(several)] = several;
  EXPECT_CALL(operations_, Routes("a")).WillOnce(testing::ReturnRef(table));
  Client client(Start());
  EXPECT_EQ(client.ReadRoutes("a"), table);
}

TEST_F(ServerTest, PassesWhatBecameOfTheSimulator) {
  const lab::SimulatorHistory history{2, true, true, "2026-01-02T03:04:05Z", 1.5, "it was killed"};
  EXPECT_CALL(operations_, NoteSimulator(history));
  Client client(Start());
  client.NoteSimulator(history);
}

TEST_F(ServerTest, PassesAddresses) {
  const std::vector<wire::IpPrefix> addresses{wire::IpPrefix::Parse("10.0.0.1/24"),
                                              wire::IpPrefix::Parse("fd00::1/64")};
  EXPECT_CALL(operations_, SetAddresses(_, addresses));
  EXPECT_CALL(operations_, SetAddresses(_, std::vector<wire::IpPrefix>()));
  Client client(Start());
  client.SetAddresses({"a", "eth0"}, addresses);
  client.SetAddresses({"a", "eth0"}, {});
}

TEST_F(ServerTest, PassesIndices) {
  EXPECT_CALL(operations_, IfIndex(_)).WillOnce([](const lab::Endpoint& endpoint) {
    EXPECT_EQ(endpoint.node + " " + endpoint.interface, "a eth0");
    return 12;
  });
  EXPECT_EQ(Client(Start()).IfIndex({"a", "eth0"}), 12);
}

TEST_F(ServerTest, PassesLongDescriptions) {
  const nlohmann::json description = {{"text", std::string(1 << 20, 'x')}};
  EXPECT_CALL(operations_, Describe()).WillOnce(Return(description));
  Client client(Start());
  EXPECT_EQ(client.Describe(), description);
}

TEST_F(ServerTest, PassesStandardDescriptors) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  UniqueFd read_end(ends[0]), write_end(ends[1]);
  EXPECT_CALL(operations_, Spawn(_)).WillOnce([](const ProgramOptions& options) {
    EXPECT_EQ(options.standard_input, -1);
    EXPECT_EQ(write(options.standard_output, "hello", 5), 5);
    EXPECT_EQ(options.standard_error, -1);
    return Program{123, OpenNull(), OpenNull()};
  });
  Client client(Start());
  ProgramOptions options;
  options.node = "a";
  options.arguments = {"true"};
  options.standard_output = write_end.get();
  EXPECT_EQ(client.Spawn(options).pid, 123);
  write_end.reset();
  char text[16];
  EXPECT_EQ(read(read_end.get(), text, sizeof text), 5);
  // The reader gets the end of the file, because the broker has closed its copy of the writing end.
  EXPECT_EQ(read(read_end.get(), text, sizeof text), 0);
}

TEST_F(ServerTest, ErrorsReachTheClientAsTheyWere) {
  EXPECT_CALL(operations_, DestroyLab()).WillOnce(Throw(UsageError("there is no lab")));
  EXPECT_CALL(operations_, OpenTun("a")).WillOnce([](const std::string&) -> UniqueFd {
    throw EnvironmentError("no TUN here");
  });
  EXPECT_CALL(operations_, Describe()).WillOnce([]() -> nlohmann::json {
    throw std::runtime_error("surprise");
  });
  Client client(Start());
  EXPECT_THROW(client.DestroyLab(), UsageError);
  EXPECT_THROW(client.OpenTun("a"), EnvironmentError);
  try {
    client.Describe();
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("surprise"));
  }
}

TEST_F(ServerTest, BadPacketEndsItsConnectionOnly) {
  EXPECT_CALL(operations_, Kill(1, 2)).Times(1);
  Client client(Start());
  Connection hostile(client.NewConnection(), kService);
  ASSERT_EQ(send(hostile.fd(), "abc", 3, 0), 3);
  EXPECT_THAT(ErrorOf(hostile), HasSubstr("truncated"));
  Message answer;
  EXPECT_EQ(hostile.Receive(&answer), Connection::Status::kEnd);
  client.Kill(1, 2);
}

TEST_F(ServerTest, OtherVersionIsToldSo) {
  Client client(Start());
  Connection hostile(client.NewConnection(), kService);
  ipc::Packet packet = ipc::EncodeMessage(kService, Request::kDescribe, 1, "{}").front();
  const uint16_t version = kService.version + 1;
  std::memcpy(packet.data() + offsetof(ipc::PacketHeader, version), &version, sizeof version);
  ASSERT_EQ(send(hostile.fd(), packet.data(), packet.size(), 0),
            static_cast<ssize_t>(packet.size()));
  EXPECT_THAT(ErrorOf(hostile),
              HasSubstr("version " + std::to_string(version) + ", but this program uses version " +
                        std::to_string(kService.version)));
}

TEST_F(ServerTest, OversizedPacketIsRefused) {
  Client client(Start());
  Connection hostile(client.NewConnection(), kService);
  const std::string packet(ipc::kMaxPacketPayload + 1000, 'x');
  ASSERT_EQ(send(hostile.fd(), packet.data(), packet.size(), 0),
            static_cast<ssize_t>(packet.size()));
  EXPECT_THAT(ErrorOf(hostile), HasSubstr("too long"));
}

TEST_F(ServerTest, TooManyDescriptorsAreRefusedAndClosed) {
  Client client(Start());
  Connection hostile(client.NewConnection(), kService);
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  UniqueFd read_end(ends[0]), write_end(ends[1]);
  hostile.Send(Request::kDescribe, 1, "{}",
               std::vector<int>(ipc::kMaxDescriptors + 1, write_end.get()));
  EXPECT_THAT(ErrorOf(hostile), HasSubstr("too many descriptors"));
  write_end.reset();
  char byte;
  EXPECT_EQ(read(read_end.get(), &byte, 1), 0);
}

TEST_F(ServerTest, AnswersAreNoRequests) {
  Client client(Start());
  Connection hostile(client.NewConnection(), kService);
  hostile.Send(ipc::Answer::kReply, 1, "{}");
  EXPECT_THAT(ErrorOf(hostile), HasSubstr("expected a request"));
}

TEST_F(ServerTest, UnknownRequestIsRefusedAndTheConnectionGoesOn) {
  Client client(Start());
  Connection newer(client.NewConnection(), kService);
  for (const uint16_t number : {200, 65535}) {
    newer.Send(ipc::Code(number), 1, "{}");
    EXPECT_THAT(ErrorOf(newer), HasSubstr(fmt::format("unknown request {}", number)));
  }
}

TEST_F(ServerTest, HostileJsonIsRefused) {
  EXPECT_CALL(operations_, Kill(_, _)).Times(0);
  Client client(Start());
  Connection wrong_type(client.NewConnection(), kService);
  wrong_type.Send(Request::kKill, 1, R"({"pid":"1; true","signal":9})");
  EXPECT_THAT(ErrorOf(wrong_type), HasSubstr("wrong type"));
  // The connection must be usable after a refused request.
  wrong_type.Send(Request::kKill, 2, R"({"pid":1})");
  EXPECT_THAT(ErrorOf(wrong_type), HasSubstr("missing"));
  wrong_type.Send(privilege::ProgramRequest::kSpawn, 3,
                  R"({"node":"a","arguments":["x"],"environment":{},"working_directory":"",)"
                  R"("terminal":false,"standard":[0,1,2]})");
  EXPECT_THAT(ErrorOf(wrong_type), HasSubstr("not passed"));
  wrong_type.Send(Request::kKill, 4, "{{{");
  EXPECT_THAT(ErrorOf(wrong_type), HasSubstr("JSON"));
}

TEST_F(ServerTest, FurtherConnectionKeepsTheBrokerAlive) {
  EXPECT_CALL(operations_, Kill(1, 2));
  auto first = std::make_unique<Client>(Start());
  Client second(first->NewConnection());
  first.reset();  // returns at once, because another client is still connected
  second.Kill(1, 2);
}

// The listening socket of a detached lab, at an abstract address instead of a file.
class Meeting {
 public:
  Meeting() {
    address_.sun_family = AF_UNIX;
    length_ = static_cast<socklen_t>(
        offsetof(sockaddr_un, sun_path) + 1 +
        snprintf(address_.sun_path + 1, sizeof address_.sun_path - 1, "viaduct-test-%d", getpid()));
  }

  UniqueFd Listen() const {
    UniqueFd listener(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    EXPECT_EQ(bind(listener.get(), reinterpret_cast<const sockaddr*>(&address_), length_), 0);
    EXPECT_EQ(listen(listener.get(), 4), 0);
    return listener;
  }
  UniqueFd Connect() const {
    UniqueFd connection(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    EXPECT_EQ(connect(connection.get(), reinterpret_cast<const sockaddr*>(&address_), length_), 0);
    return connection;
  }

 private:
  sockaddr_un address_{};
  socklen_t length_ = 0;
};

TEST_F(ServerTest, ASimulatorsEndDoesNotEndADetachedLab) {
  const Meeting meeting;
  EXPECT_CALL(operations_, Detach()).WillOnce([&] { return meeting.Listen(); });
  EXPECT_CALL(operations_, MayConnect(geteuid())).WillOnce(Return(true));
  EXPECT_CALL(operations_, NoteKeepersEnd());
  testing::Expectation other = EXPECT_CALL(operations_, Kill(1, 2));
  EXPECT_CALL(operations_, DestroyLab()).After(other);
  auto supervisor = std::make_unique<Client>(Start());
  Client simulator(supervisor->NewConnection());
  supervisor->Detach();
  supervisor.reset();
  simulator.DestroyLab();
  simulator.Kill(1, 2);
  Client(meeting.Connect()).DestroyLab();
}

TEST_F(ServerTest, DetachedLabIsFoundByItsOwnerUntilDestroyed) {
  const Meeting meeting;
  EXPECT_CALL(operations_, Detach()).WillOnce([&] { return meeting.Listen(); });
  EXPECT_CALL(operations_, MayConnect(geteuid())).WillOnce(Return(false)).WillOnce(Return(true));
  testing::Expectation forgotten = EXPECT_CALL(operations_, NoteKeepersEnd());
  EXPECT_CALL(operations_, DestroyLab()).After(forgotten);
  {
    Client client(Start());
    client.Detach();
  }
  Connection refused(meeting.Connect(), kService);
  EXPECT_THAT(ErrorOf(refused), HasSubstr("another user"));
  Client client(meeting.Connect());
  client.DestroyLab();
}

TEST_F(ServerTest, EndOfTheBrokerIsSaid) {
  auto pair = sys::MakeSocketPair(SOCK_SEQPACKET);
  pair.second.reset();
  Client client(std::move(pair.first));
  try {
    client.Describe();
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("its broker exited"));
  }
}

}  // namespace
}  // namespace viaduct::broker
