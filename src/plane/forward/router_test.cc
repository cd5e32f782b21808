// Tests of the router program: each test gives it packets and compares the packets that it sends.
#include "plane/forward/router.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/wire/checksum.h"
#include "base/wire/test/packet_builder.h"
#include "plane/forward/table_writer.h"
#include "plane/forward/test_carrier.h"

namespace viaduct::forward {
namespace {

using namespace wire::packet;  // NOLINT(google-build-using-namespace): packets read like packets
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string kPort0 = "02:00:00:00:00:10", kPort1 = "02:00:00:00:00:11",
                  kNext = "02:00:00:00:00:99";

// A router with two ports: port 0 (ifindex 10) has 10.0.0.1/24 and 2001:db8::1/64; port 1 (ifindex
// 11) has 10.0.1.1/24, 2001:db8:1::1/64 and an MTU of 1400. 10.9.0.0/16 and 2001:db8:9::/48 are
// behind the neighbour of port 1 with the addresses 10.0.1.2 and 2001:db8:1::2.
class RouterTest : public testing::Test {
 protected:
  RouterTest() {
    Write();
    for (const char* neighbour : {"10.0.1.2", "2001:db8:1::2"}) {
      neighbours_.Set(11, wire::IpAddress::Parse(neighbour), wire::MacAddress::Parse(kNext), false);
    }
  }

  void Write() {
    writer_.SetLimits({.ipv4_types = 0, .ipv6_types = 0});
    writer_.Begin();
    const auto set = [this](const char* prefix, const Entry& entry) {
      writer_.Set(wire::IpPrefix::Parse(prefix), entry);
    };
    for (const char* own :
         {"10.0.0.1/32", "10.0.1.1/32", "2001:db8::1/128", "2001:db8:1::1/128", "fe80::1/128"}) {
      set(own, {Kind::kLocal, {}});
    }
    set("10.0.0.255/32", {Kind::kBroadcast, {}});
    for (const char* network : {"10.0.0.0/24", "2001:db8::/64"}) {
      set(network, {Kind::kForward, {{10, {}}}});
    }
    for (const char* network : {"10.0.1.0/24", "2001:db8:1::/64"}) {
      set(network, {Kind::kForward, {{11, {}}}});
    }
    set("10.9.0.0/16", {Kind::kForward, {{11, wire::IpAddress::Parse("10.0.1.2")}}});
    set("2001:db8:9::/48", {Kind::kForward, {{11, wire::IpAddress::Parse("2001:db8:1::2")}}});
    set("10.66.0.0/16", {Kind::kUnreachable, {}});
    set("10.67.0.0/16", {Kind::kBlackhole, {}});
    writer_.Publish();
  }

  static Payload PayloadFrom(const std::vector<std::byte>& bytes) {
    return {std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size())};
  }
  static std::vector<std::byte> WithIpv4Options(const Ipv4& header, std::string_view options) {
    const std::vector<std::byte> inserted = FromHex(options);
    std::vector<std::byte> frame = Build(ToRouter() / header / Udp{});
    frame.insert(frame.begin() + 34, inserted.begin(), inserted.end());
    frame[14] = static_cast<std::byte>(0x45 + inserted.size() / 4);
    wire::Store16(&frame[16], static_cast<uint16_t>(frame.size() - 14));
    wire::SetIpv4Checksum(wire::Bytes(frame).subspan(14));
    return frame;
  }
  std::string_view Take(std::vector<std::byte> frame) {
    kept_.push_back(std::move(frame));
    Router router(node_);
    const size_t outcome = router.Take({0, kept_.back(), now_}, outbox_);
    outbox_.EndBurst();
    return Router::kOutcomes[outcome];
  }
  static Ethernet ToRouter() { return {.source = "02:00:00:00:00:01", .destination = kPort0}; }
  static Ipv4 Ipv4To(const std::string& destination, uint8_t ttl = 64) {
    return {.source = "10.0.0.5", .destination = destination, .ttl = ttl, .id = 7};
  }
  static Ipv6 Ipv6To(const std::string& destination, uint8_t hop_limit = 64) {
    return {.source = "2001:db8::5", .destination = destination, .hop_limit = hop_limit};
  }

  std::vector<Word> memory_ = std::vector<Word>(size_t{1} << 17);
  TableWriter writer_{memory_};
  NeighbourTable neighbours_;
  Node node_{"r",
             {{"eth0", 10, wire::MacAddress::Parse(kPort0), 1500},
              {"eth1", 11, wire::MacAddress::Parse(kPort1), 1400}},
             memory_,
             &neighbours_};
  FakeCarrier carrier_;
  Outbox outbox_{2, carrier_};
  Instant now_ = Instant::FromNanoseconds(1'000'000'000'000);
  std::vector<std::vector<std::byte>> kept_;
};

TEST_F(RouterTest, ForwardsIpv4ToTheGateway) {
  EXPECT_EQ(Take(Build(ToRouter() / Ipv4To("10.9.1.1") / Udp{} / Payload{"hello"})), "forwarded");
  EXPECT_THAT(carrier_.sent[1],
              ElementsAre(Describe(Build(Ethernet{.source = kPort1, .destination = kNext} /
                                         Ipv4To("10.9.1.1", 63) / Udp{} / Payload{"hello"}))));
  EXPECT_THAT(carrier_.sent[0], IsEmpty());
}

TEST_F(RouterTest, ForwardsIpv6ToTheGateway) {
  EXPECT_EQ(Take(Build(ToRouter() / Ipv6To("2001:db8:9::1") / Udp{} / Payload{"hello"})),
            "forwarded");
  EXPECT_THAT(carrier_.sent[1],
              ElementsAre(Describe(Build(Ethernet{.source = kPort1, .destination = kNext} /
                                         Ipv6To("2001:db8:9::1", 63) / Udp{} / Payload{"hello"}))));
}

TEST_F(RouterTest, ForwardsToANeighbourOnTheLinkAndTrimsPadding) {
  std::vector<std::byte> frame = Build(ToRouter() / Ipv4To("10.0.1.2") / Udp{});
  frame.resize(60);
  EXPECT_EQ(Take(std::move(frame)), "forwarded");
  EXPECT_THAT(carrier_.sent[1],
              ElementsAre(Describe(Build(Ethernet{.source = kPort1, .destination = kNext} /
                                         Ipv4To("10.0.1.2", 63) / Udp{}))));
}

TEST_F(RouterTest, LeavesToTheKernelWhatIsForTheNode) {
  for (const char* own : {"10.0.0.1", "10.0.1.1", "10.0.0.255", "255.255.255.255"}) {
    EXPECT_EQ(Take(Build(ToRouter() / Ipv4To(own) / Udp{})), "for-the-node") << own;
  }
  for (const char* own : {"2001:db8::1", "2001:db8:1::1", "fe80::1"}) {
    EXPECT_EQ(Take(Build(ToRouter() / Ipv6To(own) / Udp{})), "for-the-node") << own;
  }
  EXPECT_EQ(Take(Build(ToRouter() / Arp{})), "for-the-node");
  EXPECT_TRUE(carrier_.IsEmpty());
}

TEST_F(RouterTest, LinkLocalAddressesStayOnTheirLink) {
  neighbours_.Set(10, wire::IpAddress::Parse("fe80::9"), wire::MacAddress::Parse(kNext), false);
  const Ipv6 beside{.source = "fe80::5", .destination = "fe80::9"};
  EXPECT_EQ(Take(Build(ToRouter() / beside / Udp{})), "forwarded");
  EXPECT_EQ(carrier_.sent[0].size(), 1U);
  EXPECT_THAT(carrier_.sent[1], IsEmpty());
  EXPECT_EQ(
      Take(Build(ToRouter() / Ipv6{.source = "fe80::5", .destination = "2001:db8:9::1"} / Udp{})),
      "unforwardable");
}

TEST_F(RouterTest, DropsWhatNoRouterForwards) {
  EXPECT_EQ(Take(Build(ToRouter() / Ipv4To("224.0.0.5") / Udp{})), "not-unicast");
  EXPECT_EQ(Take(Build(Ethernet{.source = "02:00:00:00:00:01", .destination = "02:00:00:00:00:77"} /
                       Ipv4To("10.9.1.1") / Udp{})),
            "not-unicast");
  EXPECT_EQ(Take(Build(ToRouter() / Ipv4{.source = "10.0.1.1", .destination = "10.9.1.1"} / Udp{})),
            "unforwardable");
  EXPECT_EQ(
      Take(Build(ToRouter() / Ipv4{.source = "127.0.0.1", .destination = "10.9.1.1"} / Udp{})),
      "unforwardable");
  EXPECT_EQ(Take(Build(ToRouter() / Ipv4To("10.67.0.1") / Udp{})), "refused");
  EXPECT_TRUE(carrier_.IsEmpty());
}

// The router follows net/ipv4/route.c: of the source addresses in 0.0.0.0/8 only 0.0.0.0 is
// invalid, and a broadcast address does not count as an address of the node.
TEST_F(RouterTest, ForwardsFromUnusualSources) {
  for (const char* source : {"0.1.2.3", "10.0.0.255", "240.0.0.1"}) {
    EXPECT_EQ(Take(Build(ToRouter() / Ipv4{.source = source, .destination = "10.9.1.1"} / Udp{})),
              "forwarded")
        << source;
  }
  EXPECT_EQ(Take(Build(ToRouter() / Ipv4To("0.1.2.3") / Udp{})), "no-route");
  EXPECT_EQ(Take(Build(ToRouter() / Ipv4{.source = "0.0.0.0", .destination = "10.9.1.1"} / Udp{})),
            "unforwardable");
}

TEST_F(RouterTest, TakesPriorityTagsOff) {
  const auto tagged = [](const Vlan& tag) {
    return Build(ToRouter() / tag / Ipv4To("10.9.1.1") / Udp{});
  };
  EXPECT_EQ(Take(tagged({.id = 0, .priority = 5})), "forwarded");
  EXPECT_EQ(Take(Build(ToRouter() / Vlan{} / Ipv6To("2001:db8:9::1") / Udp{})), "forwarded");
  ASSERT_EQ(carrier_.sent[1].size(), 2u);
  EXPECT_EQ(carrier_.sent[1][0], Describe(Build(Ethernet{.source = kPort1, .destination = kNext} /
                                                Ipv4To("10.9.1.1", 63) / Udp{})));
  EXPECT_EQ(Take(tagged({.id = 1})), "for-the-node");
}

// If the kernel rejects a packet for its options, the router drops the packet silently: the node's
// kernel answers the packet, or drops its own copy.
TEST_F(RouterTest, DropsInSilenceWhatTheKernelRejectsForItsOptions) {
  for (const uint8_t ttl : {64, 1}) {
    for (const char* destination : {"10.9.1.1", "10.77.0.1"}) {
      EXPECT_EQ(Take(WithIpv4Options(Ipv4To(destination, ttl), "07 20 04 00")), "unforwardable");
    }
    std::vector<std::byte> frame = Build(ToRouter() / Ipv6To("2001:db8:9::1", ttl) /
                                         PayloadFrom(FromHex("3b 00 9e 04 00 00 00 00")));
    frame[20] = std::byte{wire::ip_protocol::kHopByHop};
    EXPECT_EQ(Take(frame), "unforwardable");
  }
  EXPECT_TRUE(carrier_.IsEmpty());
}

TEST_F(RouterTest, DropsWhatIsMalformed) {
  std::vector<std::byte> frame = Build(ToRouter() / Ipv4To("10.9.1.1") / Udp{});
  for (size_t length = 0; length < frame.size(); ++length) {
    EXPECT_EQ(Take({frame.begin(), frame.begin() + static_cast<ptrdiff_t>(length)}), "malformed");
  }
  frame[24] ^= std::byte{1};  // corrupts the checksum
  EXPECT_EQ(Take(frame), "malformed");
  frame = Build(ToRouter() / Ipv6To("2001:db8:9::1") / Udp{});
  frame.pop_back();
  EXPECT_EQ(Take(frame), "malformed");
  EXPECT_TRUE(carrier_.IsEmpty());
}

TEST_F(RouterTest, AnswersWhereTheTimeToLiveEnds) {
  EXPECT_EQ(Take(Build(ToRouter() / Ipv4To("10.9.1.1", 1) / Udp{})), "ttl-expired");
  ASSERT_EQ(carrier_.own.size(), 1u);
  EXPECT_THAT(carrier_.own[0], HasSubstr("0.0.0.0 > 10.0.0.5"));
  EXPECT_THAT(carrier_.own[0], HasSubstr("icmp 11/0"));
  EXPECT_EQ(Take(Build(ToRouter() / Ipv6To("2001:db8:9::1", 1) / Udp{})), "ttl-expired");
  ASSERT_EQ(carrier_.icmpv6.size(), 1u);
  EXPECT_EQ(carrier_.icmpv6[0].destination, "2001:db8::5");
  EXPECT_EQ(carrier_.icmpv6[0].type, 3);
}

TEST_F(RouterTest, AnswersWithoutARoute) {
  EXPECT_EQ(Take(Build(ToRouter() / Ipv4To("10.77.0.1") / Udp{})), "no-route");
  EXPECT_EQ(Take(Build(ToRouter() / Ipv4To("10.66.0.1") / Udp{})), "refused");
  ASSERT_EQ(carrier_.own.size(), 2u);
  EXPECT_THAT(carrier_.own[0], HasSubstr("icmp 3/0"));
  EXPECT_THAT(carrier_.own[1], HasSubstr("icmp 3/1"));
}

TEST_F(RouterTest, LeavesAnswersWithoutAnIpv6RouteToTheKernel) {
  EXPECT_EQ(Take(Build(ToRouter() / Ipv6To("2001:db8:77::1") / Udp{})), "no-route");
  EXPECT_TRUE(carrier_.IsEmpty());
}

TEST_F(RouterTest, AnswersWhatIsTooLongAndMayNotBeCut) {
  Ipv4 header = Ipv4To("10.9.1.1");
  header.dont_fragment = true;
  EXPECT_EQ(Take(Build(ToRouter() / header / Udp{} / Counting(1400))), "too-long");
  ASSERT_EQ(carrier_.own.size(), 1u);
  EXPECT_THAT(carrier_.own[0], HasSubstr("icmp 3/4"));
  EXPECT_EQ(Take(Build(ToRouter() / Ipv6To("2001:db8:9::1") / Udp{} / Counting(1400))), "too-long");
  ASSERT_EQ(carrier_.icmpv6.size(), 1u);
  EXPECT_EQ(carrier_.icmpv6[0].type, 2);
  EXPECT_EQ(carrier_.icmpv6[0].mtu, 1400u);
}

TEST_F(RouterTest, CutsWhatIsTooLong) {
  EXPECT_EQ(Take(Build(ToRouter() / Ipv4To("10.9.1.1") / Udp{} / Counting(1440))), "forwarded");
  ASSERT_EQ(carrier_.frames[1].size(), 2u);
  std::vector<std::byte> whole;
  for (const auto& frame : carrier_.frames[1]) {
    const auto header = wire::Ipv4Header::Parse(wire::ConstBytes(frame).subspan(14));
    ASSERT_TRUE(header);
    EXPECT_LE(header->total_length, 1400);
    EXPECT_EQ(header->fragment_offset * 8u, whole.size());
    EXPECT_EQ(header->more_fragments, whole.empty());
    EXPECT_EQ(header->ttl, 63);
    EXPECT_EQ(wire::InternetChecksum(wire::ConstBytes(frame).subspan(14, 20)), 0u);
    whole.insert(whole.end(), frame.begin() + 34, frame.end());
  }
  EXPECT_EQ(whole.size(), 1448u);
}

TEST_F(RouterTest, ErrorsAreNotAnsweredNorAreLaterFragments) {
  Ipv4 header = Ipv4To("10.9.1.1", 1);
  EXPECT_EQ(Take(Build(ToRouter() / header / Icmp{.type = 11})), "ttl-expired");
  header.fragment_offset = 8;
  EXPECT_EQ(Take(Build(ToRouter() / header / Payload{"12345678"})), "ttl-expired");
  EXPECT_EQ(Take(Build(ToRouter() / Ipv6To("2001:db8:9::1", 1) / Icmpv6{.type = 1})),
            "ttl-expired");
  EXPECT_TRUE(carrier_.IsEmpty());
}

// In a fragment other than the first, the byte at the offset of the ICMPv6 type is data, so the
// router does not read the byte as a type.
TEST_F(RouterTest, LaterFragmentsOfIcmpv6AreAnswered) {
  Ipv6 header = Ipv6To("2001:db8:9::1", 1);
  header.next_header = wire::ip_protocol::kFragment;
  const auto fragment = [&](const char* hex) {
    return Build(ToRouter() / header / PayloadFrom(FromHex(hex)));
  };
  EXPECT_EQ(Take(fragment("3a 00 0008 00000001 01 00 0000 00000000")), "ttl-expired");
  EXPECT_EQ(carrier_.icmpv6.size(), 1u);
  EXPECT_EQ(Take(fragment("3a 00 0001 00000001 01 00 0000 00000000")), "ttl-expired");
  EXPECT_EQ(carrier_.icmpv6.size(), 1u);
}

TEST_F(RouterTest, TheKernelSendsToNeighboursThatItHasNotResolved) {
  EXPECT_EQ(Take(Build(ToRouter() / Ipv4To("10.0.1.77") / Udp{})), "resolving");
  ASSERT_EQ(carrier_.own.size(), 1u);
  EXPECT_THAT(carrier_.own[0], HasSubstr("10.0.0.5 > 10.0.1.77 ttl 63"));
  EXPECT_EQ(carrier_.own_ifindex, 11u);
}

TEST_F(RouterTest, TheKernelConfirmsStaleNeighboursNowAndThen) {
  neighbours_.Set(11, wire::IpAddress::Parse("10.0.1.2"), wire::MacAddress::Parse(kNext), true);
  const auto packet = Build(ToRouter() / Ipv4To("10.9.1.1") / Udp{});
  EXPECT_EQ(Take(packet), "resolving");
  EXPECT_EQ(Take(packet), "forwarded");
  now_ += Duration::Seconds(2);
  EXPECT_EQ(Take(packet), "resolving");
}

// A router whose packets without a route are passed up to a protocol: they are not answered.
class UpcallRouterTest : public RouterTest {
 protected:
  static constexpr uint32_t kDevice = 30;

  UpcallRouterTest() {
    writer_.Begin();
    for (const char* everything : {"0.0.0.0/0", "::/0"}) {
      writer_.Set(wire::IpPrefix::Parse(everything), {Kind::kUp, {{kDevice, {}}}});
    }
    writer_.Publish();
  }
};

TEST_F(UpcallRouterTest, PassesUpWhatHasNoRoute) {
  EXPECT_EQ(Take(Build(ToRouter() / Ipv4To("10.77.0.1") / Udp{})), "passed-up");
  EXPECT_EQ(Take(Build(ToRouter() / Ipv6To("2001:db8:77::1") / Udp{})), "passed-up");
  EXPECT_THAT(carrier_.up[0], ElementsAre(HasSubstr("10.0.0.5 > 10.77.0.1 ttl 63"),
                                          HasSubstr("2001:db8::5 > 2001:db8:77::1 hops 63")));
  EXPECT_EQ(carrier_.up_ifindex, kDevice);
  EXPECT_THAT(carrier_.up[1], IsEmpty());
  EXPECT_TRUE(carrier_.sent.empty() && carrier_.own.empty() && carrier_.icmpv6.empty());
}

TEST_F(UpcallRouterTest, WhatHasARouteOrIsForTheNodeStaysBelow) {
  EXPECT_EQ(Take(Build(ToRouter() / Ipv4To("10.9.1.1") / Udp{})), "forwarded");
  EXPECT_EQ(Take(Build(ToRouter() / Ipv6To("2001:db8:9::1") / Udp{})), "forwarded");
  EXPECT_EQ(Take(Build(ToRouter() / Ipv4To("10.0.1.1") / Udp{})), "for-the-node");
  EXPECT_EQ(Take(Build(ToRouter() / Ipv4To("10.66.0.1") / Udp{})), "refused");
  EXPECT_TRUE(carrier_.up.empty());
}

TEST_F(UpcallRouterTest, WhatCannotBeForwardedIsAnsweredInstead) {
  EXPECT_EQ(Take(Build(ToRouter() / Ipv4To("10.77.0.1", 1) / Udp{})), "ttl-expired");
  EXPECT_EQ(Take(Build(ToRouter() / Ipv6To("2001:db8:77::1", 1) / Udp{})), "ttl-expired");
  Ipv4 header = Ipv4To("10.77.0.1");
  header.dont_fragment = true;
  EXPECT_EQ(Take(Build(ToRouter() / header / Udp{} / Counting(1400))), "too-long");
  EXPECT_EQ(Take(Build(ToRouter() / Ipv6To("2001:db8:77::1") / Udp{} / Counting(1400))),
            "too-long");
  EXPECT_TRUE(carrier_.up.empty());
  EXPECT_THAT(carrier_.own, ElementsAre(HasSubstr("icmp 11/0"), HasSubstr("icmp 3/4")));
  ASSERT_EQ(carrier_.icmpv6.size(), 2u);
  EXPECT_EQ(carrier_.icmpv6[1].mtu, 1400u);
}

TEST_F(UpcallRouterTest, WhatIsCutGoesUpInPieces) {
  EXPECT_EQ(Take(Build(ToRouter() / Ipv4To("10.77.0.1") / Udp{} / Counting(1440))), "passed-up");
  EXPECT_EQ(carrier_.up[0].size(), 2u);
}

// If a neighbour is held before a route to it appears, a router that sees the route must also see
// that the neighbour is held.
TEST_F(RouterTest, NeighboursAreAtLeastAsNewAsTheRoutes) {
  int read = 0;
  node_.read_neighbours = [&] {
    ++read;
    neighbours_.Remove(11, wire::IpAddress::Parse("10.0.1.2"));
  };
  Router router(node_);
  std::vector<std::byte> frame;  // valid until the burst ends
  const auto take = [&] {
    frame = Build(ToRouter() / Ipv4To("10.9.1.1") / Udp{});
    return Router::kOutcomes[router.Take({0, frame, now_}, outbox_)];
  };
  EXPECT_EQ(take(), "resolving");
  EXPECT_EQ(read, 1);
  neighbours_.Set(11, wire::IpAddress::Parse("10.0.1.2"), wire::MacAddress::Parse(kNext), false);
  EXPECT_EQ(take(), "forwarded");
  EXPECT_EQ(read, 1) << "the table is the same";
  outbox_.EndBurst();
  Write();
  EXPECT_EQ(take(), "resolving");
  EXPECT_EQ(read, 2);
}

TEST_F(RouterTest, FlowsUseAllHopsOfARoute) {
  writer_.Begin();
  writer_.Set(wire::IpPrefix::Parse("10.9.0.0/16"), {Kind::kForward,
                                                     {{10, wire::IpAddress::Parse("10.0.0.2")},
                                                      {11, wire::IpAddress::Parse("10.0.1.2")}}});
  writer_.Publish();
  neighbours_.Set(10, wire::IpAddress::Parse("10.0.0.2"), wire::MacAddress::Parse(kNext), false);
  for (int i = 1; i < 100; ++i) {
    Take(Build(ToRouter() / Ipv4To("10.9.1." + std::to_string(i)) / Udp{}));
  }
  EXPECT_GT(carrier_.sent[0].size(), 20u);
  EXPECT_GT(carrier_.sent[1].size(), 20u);
}

}  // namespace
}  // namespace viaduct::forward
