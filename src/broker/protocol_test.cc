#include "broker/protocol.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "fib/test_route.h"

namespace viaduct::broker {
namespace {

using testing::HasSubstr;

std::vector<UniqueFd> None() { return {}; }

Message Assemble(const std::vector<Packet>& packets) {
  MessageAssembler assembler;
  for (size_t i = 0; i + 1 < packets.size(); ++i) {
    EXPECT_FALSE(assembler.Add(packets[i], None()).has_value());
  }
  auto message = assembler.Add(packets.back(), None());
  EXPECT_TRUE(message.has_value());
  return std::move(*message);
}

// The packet of a short message with one header field changed.
template <class Field>
Packet WithField(size_t offset, Field value) {
  Packet packet = EncodeMessage(MessageType::kKill, 7, "{}").front();
  std::memcpy(packet.data() + offset, &value, sizeof value);
  return packet;
}

std::string RefusalOf(const Packet& packet) {
  MessageAssembler assembler;
  try {
    assembler.Add(packet, None());
  } catch (const ProtocolError& error) {
    return error.what();
  }
  return "accepted";
}

fib::Route MakeRoute(const std::string& destination, const std::string& gateway) {
  return fib::test::MakeRoute(destination, gateway, 3);
}

TEST(Messages, ShortOneIsOnePacket) {
  const auto packets = EncodeMessage(MessageType::kKill, 7, "{}");
  ASSERT_EQ(packets.size(), 1u);
  const Message message = Assemble(packets);
  EXPECT_EQ(message.type, MessageType::kKill);
  EXPECT_EQ(message.sequence, 7u);
  EXPECT_EQ(message.payload, "{}");
}

TEST(Messages, EmptyPayloadIsAMessage) {
  EXPECT_EQ(Assemble(EncodeMessage(MessageType::kReply, 1, "")).payload, "");
}

TEST(Messages, LongOneIsSeveralPackets) {
  std::string payload(3 * kMaxPacketPayload + 1, 'x');
  payload[kMaxPacketPayload] = 'y';
  const auto packets = EncodeMessage(MessageType::kCreateLab, 1, payload);
  EXPECT_EQ(packets.size(), 4u);
  EXPECT_EQ(Assemble(packets).payload, payload);
  EXPECT_EQ(EncodeMessage(MessageType::kCreateLab, 1, payload.substr(0, kMaxPacketPayload)).size(),
            1u);
}

TEST(Messages, AboveTheLimitAreNotSent) {
  const std::string payload(kMaxMessagePayload + 1, 'x');
  EXPECT_THROW(EncodeMessage(MessageType::kCreateLab, 1, payload), UsageError);
}

TEST(Messages, AboveTheLimitAreNotAssembled) {
  const Packet packet =
      EncodeMessage(MessageType::kCreateLab, 1, std::string(2 * kMaxPacketPayload, 'x')).front();
  MessageAssembler assembler;
  for (size_t i = 0; i < kMaxMessagePayload / kMaxPacketPayload; ++i) {
    assembler.Add(packet, None());
  }
  EXPECT_THROW(assembler.Add(packet, None()), ProtocolError);
}

TEST(Packets, BadOnesAreRefused) {
  EXPECT_THAT(RefusalOf(Packet(3)), HasSubstr("truncated"));
  EXPECT_THAT(RefusalOf(WithField<uint32_t>(offsetof(PacketHeader, magic), 1)), HasSubstr("magic"));
  EXPECT_THAT(RefusalOf(WithField<uint16_t>(offsetof(PacketHeader, version), 99)),
              HasSubstr("version 99"));
  EXPECT_THAT(RefusalOf(WithField<uint16_t>(offsetof(PacketHeader, type), 0)),
              HasSubstr("unknown message type 0"));
  EXPECT_THAT(RefusalOf(WithField<uint16_t>(offsetof(PacketHeader, type), 999)),
              HasSubstr("unknown message type 999"));
  EXPECT_THAT(RefusalOf(WithField<uint32_t>(offsetof(PacketHeader, length), 3)),
              HasSubstr("3 bytes announced and 2 received"));
  EXPECT_THAT(RefusalOf(WithField<uint32_t>(offsetof(PacketHeader, length), 0xFFFFFFFF)),
              HasSubstr("at most"));
  EXPECT_THAT(RefusalOf(WithField<uint16_t>(offsetof(PacketHeader, flags), 0x10)),
              HasSubstr("flag"));
  EXPECT_THAT(RefusalOf(WithField<uint16_t>(offsetof(PacketHeader, descriptors), 1)),
              HasSubstr("1 descriptors announced and 0 received"));
}

TEST(Packets, MessagesDoNotInterleave) {
  const std::string payload(kMaxPacketPayload + 1, 'x');
  MessageAssembler assembler;
  assembler.Add(EncodeMessage(MessageType::kCreateLab, 1, payload)[0], None());
  EXPECT_THROW(assembler.Add(EncodeMessage(MessageType::kCreateLab, 2, payload)[1], None()),
               ProtocolError);
}

TEST(Packets, DescriptorsOfARefusedOneAreClosed) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  UniqueFd read_end(ends[0]);
  std::vector<UniqueFd> descriptors;
  descriptors.emplace_back(ends[1]);
  MessageAssembler assembler;
  EXPECT_THROW(assembler.Add(Packet(3), std::move(descriptors)), ProtocolError);
  char byte;
  EXPECT_EQ(read(read_end.get(), &byte, 1), 0);  // end of file: no writer is left
}

TEST(Routes, SurviveTheJourney) {
  fib::RouteChanges changes;
  changes.replaced = {MakeRoute("10.0.0.0/24", "10.1.0.1")};
  changes.added = {MakeRoute("0.0.0.0/0", "10.1.0.2"), MakeRoute("2001:db8::/32", "fe80::1"),
                   MakeRoute("10.7.0.1/32", ""), MakeRoute("10.8.0.0/16", "10.1.0.1")};
  changes.added.back().next_hops.push_back({wire::IpAddress::Parse("10.2.0.1"), "eth1"});
  changes.removed = {MakeRoute("::/0", "fe80::2")};
  const RoutesRequest request = DecodeRoutes(EncodeRoutes("router7", changes));
  EXPECT_EQ(request.node, "router7");
  EXPECT_EQ(request.changes.replaced, changes.replaced);
  EXPECT_EQ(request.changes.added, changes.added);
  EXPECT_EQ(request.changes.removed, changes.removed);
}

TEST(Routes, TenThousandFitOneMessage) {
  fib::RouteChanges changes;
  for (uint32_t i = 0; i < 10000; ++i) {
    fib::Route route = MakeRoute("10.0.0.0/32", "10.1.0.1");
    route.destination.address = wire::IpAddress::FromIpv4(0x0A000000 + i);
    changes.added.push_back(route);
  }
  const auto packets = EncodeMessage(MessageType::kApplyRoutes, 1, EncodeRoutes("a", changes));
  EXPECT_EQ(DecodeRoutes(Assemble(packets).payload).changes.added, changes.added);
}

TEST(Routes, MalformedOnesAreRefused) {
  fib::RouteChanges changes;
  changes.added = {MakeRoute("10.0.0.0/24", "10.1.0.1")};
  const std::string good = EncodeRoutes("a", changes);
  const size_t record = good.size() - sizeof(RouteRecord);
  const auto refused = [&](size_t offset, char value) {
    std::string bad = good;
    bad[offset] = value;
    EXPECT_THROW(DecodeRoutes(bad), ProtocolError) << "byte " << offset;
  };
  EXPECT_NO_THROW(DecodeRoutes(good));
  refused(offsetof(RoutesHeader, node_length), 9);
  refused(offsetof(RoutesHeader, records), 2);
  refused(offsetof(RoutesHeader, records) + 3, 0x7F);
  refused(record + offsetof(RouteRecord, family), 5);
  refused(record + offsetof(RouteRecord, prefix_length), 33);
  refused(record + offsetof(RouteRecord, change), 3);
  refused(record + offsetof(RouteRecord, flags), kFurtherHop);
  refused(record + offsetof(RouteRecord, flags), 4);
  std::string unterminated = good;
  unterminated.replace(record + offsetof(RouteRecord, interface), 16, 16, 'e');
  EXPECT_THROW(DecodeRoutes(unterminated), ProtocolError);
  EXPECT_THROW(DecodeRoutes(good.substr(0, good.size() - 1)), ProtocolError);
  EXPECT_THROW(DecodeRoutes(good.substr(0, 5)), ProtocolError);
  EXPECT_THROW(DecodeRoutes(""), ProtocolError);
}

TEST(Routes, LongInterfaceNamesAreNotCut) {
  fib::RouteChanges changes;
  changes.added = {MakeRoute("10.0.0.0/24", "10.1.0.1")};
  changes.added[0].next_hops[0].interface = "sixteen-letters-";
  EXPECT_THROW(EncodeRoutes("a", changes), UsageError);
}

TEST(Json, HostileTextIsRefused) {
  EXPECT_THROW(DecodeJson(""), ProtocolError);
  EXPECT_THROW(DecodeJson("[]"), ProtocolError);
  EXPECT_THROW(DecodeJson("{\"a\":"), ProtocolError);
  EXPECT_THROW(DecodeJson("\xFF\xFE"), ProtocolError);
  EXPECT_THROW(DecodeJson(std::string(1 << 20, '[')), ProtocolError);
  const auto value = DecodeJson(R"({"node":[1]})");
  EXPECT_THROW(Member<std::string>(value, "node"), UsageError);
  EXPECT_THROW(Member<std::string>(value, "absent"), UsageError);
}

TEST(Json, OptionsSurviveTheJourney) {
  ProgramOptions program;
  program.node = "a";
  program.arguments = {"ping", "-c1", "10.0.0.1"};
  program.environment = {{"LANG", "C"}};
  program.working_directory = "/var";
  program.standard_output = 17;
  const auto received = nlohmann::json(program).get<ProgramOptions>();
  EXPECT_EQ(received.arguments, program.arguments);
  EXPECT_EQ(received.environment, program.environment);
  EXPECT_EQ(received.working_directory, "/var");
  EXPECT_EQ(received.standard_input, -1);
  EXPECT_EQ(received.standard_output, 0);  // its place among the descriptors passed
  EXPECT_EQ(received.standard_error, -1);
  EXPECT_FALSE(received.terminal);
  EXPECT_FALSE(received.new_privileges);
  program.new_privileges = true;
  EXPECT_TRUE(nlohmann::json(program).get<ProgramOptions>().new_privileges);

  program.terminal = true;
  EXPECT_THROW(nlohmann::json(program).get<ProgramOptions>(), UsageError);  // no standard input
  program.standard_input = 16;
  EXPECT_TRUE(nlohmann::json(program).get<ProgramOptions>().terminal);

  PacketSocketOptions packet;
  packet.filter = sys::PacketFilter({{1, 2, 3, 4}, {6, 0, 0, 0xFFFFFFFF}});
  nlohmann::json sent = packet;
  const std::vector<sock_filter> came = sent.get<PacketSocketOptions>().filter.instructions();
  ASSERT_EQ(came.size(), 2U);
  EXPECT_EQ(came[0].jf, 3);
  EXPECT_EQ(came[1].k, 0xFFFFFFFF);
  sent["filter"] = "host 10.0.0.1";
  EXPECT_THROW(sent.get<PacketSocketOptions>(), UsageError) << "root's half compiles no text";

  ControlSocketOptions control;
  control.family = wire::Family::kIpv6;
  control.kind = ControlSocketOptions::Kind::kRawIp;
  control.number = 89;
  const auto socket = nlohmann::json(control).get<ControlSocketOptions>();
  EXPECT_EQ(socket.family, control.family);
  EXPECT_EQ(socket.kind, control.kind);
  EXPECT_EQ(socket.number, 89);

  TransportSocketOptions transport{"b", wire::Family::kIpv6, TransportSocketOptions::Kind::kTcp};
  nlohmann::json request = transport;
  transport = request.get<TransportSocketOptions>();
  EXPECT_EQ(transport.node, "b");
  EXPECT_EQ(transport.family, wire::Family::kIpv6);
  EXPECT_EQ(transport.kind, TransportSocketOptions::Kind::kTcp);
  request["kind"] = "raw";
  EXPECT_THROW(request.get<TransportSocketOptions>(), UsageError);
  request["kind"] = "udp";
  request["family"] = 17;
  EXPECT_THROW(request.get<TransportSocketOptions>(), UsageError);
}

TEST(Errors, NameTheRefusedRoutes) {
  const std::vector<fib::RefusedRoute> refused{{MakeRoute("10.0.0.0/24", "10.1.0.1"), "no"},
                                               {MakeRoute("2001:db8::/32", "fe80::1"), "full"}};
  try {
    ThrowDecodedError(EncodeError(fib::RouteError(refused, 5)));
    FAIL() << "nothing was thrown";
  } catch (const fib::RouteError& error) {
    EXPECT_EQ(error.refused(), refused);
    EXPECT_THAT(error.what(), HasSubstr("2 of 5 routes refused"));
  }
}

TEST(Errors, ThatNameTooManyRoutesStillFitAMessage) {
  std::vector<fib::RefusedRoute> refused(200'000,
                                         {MakeRoute("10.0.0.0/24", "10.1.0.1"), "it is full"});
  const std::string payload = EncodeError(fib::RouteError(refused, 200'000));
  EXPECT_LT(payload.size(), kMaxMessagePayload);
  EXPECT_THROW(ThrowDecodedError(payload), Error);
}

TEST(Errors, SayWhyAProgramCannotBeExecuted) {
  for (const auto& [reason, status] : {std::pair(ENOENT, 127), std::pair(EACCES, 126),
                                       std::pair(ENOEXEC, 126), std::pair(EISDIR, 126)}) {
    try {
      ThrowDecodedError(EncodeError(sys::ExecuteError("start x: it cannot be", reason)));
      FAIL() << "nothing was thrown";
    } catch (const sys::ExecuteError& error) {
      EXPECT_EQ(error.error_number(), reason);
      EXPECT_EQ(error.shell_status(), status);
      EXPECT_EQ(error.status(), ExitStatus::kEnvironment);
    }
  }
}

TEST(Errors, KeepTheirClassAndMessage) {
  EXPECT_THROW(ThrowDecodedError(EncodeError(UsageError("u"))), UsageError);
  EXPECT_THROW(ThrowDecodedError(EncodeError(EnvironmentError("e"))), EnvironmentError);
  try {
    ThrowDecodedError(EncodeError(Error("a file called \xFF\"")));
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::kFailure);
    EXPECT_THAT(error.what(), HasSubstr("a file called"));
  }
}

}  // namespace
}  // namespace viaduct::broker
