#include "lab/broker/protocol.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plane/fib/test_route.h"
#include "sys/ipc/error.h"

namespace viaduct::broker {
namespace {

using testing::HasSubstr;

fib::Route MakeRoute(const std::string& destination, const std::string& gateway) {
  return fib::test::MakeRoute(destination, gateway, 3);
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
  const std::string payload = EncodeRoutes("a", changes);
  EXPECT_LT(payload.size(), ipc::kMaxMessagePayload);
  EXPECT_EQ(DecodeRoutes(payload).changes.added, changes.added);
}

TEST(Routes, MalformedOnesAreRefused) {
  fib::RouteChanges changes;
  changes.added = {MakeRoute("10.0.0.0/24", "10.1.0.1")};
  const std::string good = EncodeRoutes("a", changes);
  const size_t record = good.size() - sizeof(RouteRecord);
  const auto refused = [&](size_t offset, char value) {
    std::string bad = good;
    bad[offset] = value;
    EXPECT_THROW(DecodeRoutes(bad), ipc::ProtocolError) << "byte " << offset;
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
  EXPECT_THROW(DecodeRoutes(unterminated), ipc::ProtocolError);
  EXPECT_THROW(DecodeRoutes(good.substr(0, good.size() - 1)), ipc::ProtocolError);
  EXPECT_THROW(DecodeRoutes(good.substr(0, 5)), ipc::ProtocolError);
  EXPECT_THROW(DecodeRoutes(""), ipc::ProtocolError);
}

TEST(Routes, LongInterfaceNamesAreNotCut) {
  fib::RouteChanges changes;
  changes.added = {MakeRoute("10.0.0.0/24", "10.1.0.1")};
  changes.added[0].next_hops[0].interface = "sixteen-letters-";
  EXPECT_THROW(EncodeRoutes("a", changes), UsageError);
}

TEST(Json, OptionsSurviveTheJourney) {
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
    ipc::ThrowDecodedError(kService, ipc::EncodeError(kService, fib::RouteError(refused, 5)));
    FAIL() << "nothing was thrown";
  } catch (const fib::RouteError& error) {
    EXPECT_EQ(error.refused(), refused);
    EXPECT_THAT(error.what(), HasSubstr("2 of 5 routes refused"));
  }
}

TEST(Errors, ThatNameTooManyRoutesStillFitAMessage) {
  std::vector<fib::RefusedRoute> refused(200'000,
                                         {MakeRoute("10.0.0.0/24", "10.1.0.1"), "it is full"});
  const std::string payload = ipc::EncodeError(kService, fib::RouteError(refused, 200'000));
  EXPECT_LT(payload.size(), ipc::kMaxMessagePayload);
  EXPECT_THROW(ipc::ThrowDecodedError(kService, payload), Error);
}

}  // namespace
}  // namespace viaduct::broker
