// Tests the data plane `joined`: paths must be joined when joining is possible, and must stop being
// joined at once when joining becomes impossible. Needs root.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <functional>

#include "base/clock.h"
#include "base/wire/test/packet_builder.h"
#include "lab/broker/client.h"
#include "lab/broker/test/joined_line.h"
#include "lab/broker/test/plane_comparison.h"
#include "plane/bpf/forward_program.h"

namespace viaduct::broker {
namespace {

using namespace wire::packet;  // NOLINT(google-build-using-namespace): short packet descriptions
using test::EndTap;
using test::JoinedLine;
using test::MacOnLine;

void AwaitJoined(const std::function<bool()>& condition, const char* what) {
  const Instant end = MonotonicClock::Now() + Duration::Seconds(30);
  while (!condition()) {
    ASSERT_LT(MonotonicClock::Now(), end) << what;
    usleep(1000);
  }
}

size_t Datagrams(const std::vector<std::string>& frames) {
  return static_cast<size_t>(std::ranges::count_if(
      frames, [](const std::string& text) { return text.find("/ udp") != std::string::npos; }));
}

class JoinedPlaneTest : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root (network namespaces)";
    if (const std::string why = bpf::Unavailable(); !why.empty()) GTEST_SKIP() << why;
    test::PinToOneProcessor();  // one processor: when a send returns, the frame has arrived
  }

  // Sends packets until the first router, n1, forwards them over joined paths.
  static void Join(JoinedLine& line, const EndTap& from) {
    const uint64_t before = line.Count(1, "joined");
    AwaitJoined(
        [&] {
          from.Send(line.Packet(0));
          from.Send(line.Packet6(0));
          return line.Count(1, "joined") > before + 1;
        },
        "paths are joined");
  }
};

TEST_F(JoinedPlaneTest, AllHopsInOneStep) {
  JoinedLine line(4);
  EndTap from(line.client(), "n0"), to(line.client(), "n5");
  Join(line, from);
  to.Take();
  const uint64_t before = line.Count(2, "joined"), by_wire = line.Count(2, "by-hop");
  for (int i = 0; i < 10; ++i) {
    from.Send(line.Packet(i));
    from.Send(line.Packet6(i));
  }
  const auto frames = to.Take();
  ASSERT_EQ(frames.size(), 20U);
  EXPECT_THAT(frames[0], testing::HasSubstr("ttl 60"));
  EXPECT_THAT(frames[0], testing::HasSubstr(MacOnLine(4, 2)));
  EXPECT_EQ(line.Count(2, "joined"), before + 20);
  EXPECT_EQ(line.Count(4, "joined"), line.Count(1, "joined"));
  EXPECT_EQ(line.Count(2, "by-hop"), by_wire);
}

TEST_F(JoinedPlaneTest, OneRouter) {
  JoinedLine line(1);
  EndTap from(line.client(), "n0"), to(line.client(), "n2");
  Join(line, from);
  to.Take();
  from.Send(line.Packet(1));
  EXPECT_THAT(to.Take(), testing::ElementsAre(testing::HasSubstr("ttl 63")));
}

// The router where the packet's TTL reaches zero answers, not the first router of the path.
TEST_F(JoinedPlaneTest, ATimeToLiveThatEndsOnTheWay) {
  JoinedLine line(4);
  EndTap from(line.client(), "n0"), to(line.client(), "n5");
  Join(line, from);
  to.Take();
  from.Take();
  const uint64_t before = line.Count(1, "joined");
  for (const uint8_t ttl : {1, 2, 3, 4, 5}) {
    from.Send(line.Packet(ttl, ttl));
    from.Send(line.Packet6(ttl, ttl));
  }
  EXPECT_EQ(to.Take().size(), 2U);
  std::string answers;
  for (const std::string& frame : from.Take()) answers += frame + "\n";
  for (int link = 0; link < 4; ++link) {
    EXPECT_THAT(answers, testing::HasSubstr(fmt::format("10.1.{}.2 > 10.1.0.1", link)));
    EXPECT_THAT(answers,
                testing::HasSubstr(fmt::format(
                    "2001:db8{}::2 > ", link == 0 ? std::string() : fmt::format(":{}", link))));
  }
  EXPECT_EQ(line.Count(1, "joined"), before + 2);  // the two packets of TTL 5
}

TEST_F(JoinedPlaneTest, TheSmallestMtuOfTheWay) {
  JoinedLine line(3);
  line.Run(2, "ip link set eth1 mtu 1300");
  EndTap from(line.client(), "n0"), to(line.client(), "n4");
  Join(line, from);
  to.Take();
  from.Take();
  const auto send = [&](size_t payload) {
    from.Send(Build(Ethernet{.source = MacOnLine(0, 1), .destination = MacOnLine(0, 2)} /
                    Ipv4{.source = "10.1.0.1", .destination = "10.1.3.2", .dont_fragment = true} /
                    Udp{.source = 1, .destination = 2} / Counting(payload)));
  };
  const uint64_t before = line.Count(1, "joined");
  send(1300 - 28);
  EXPECT_EQ(to.Take().size(), 1U);
  EXPECT_EQ(line.Count(1, "joined"), before + 1);
  send(1300 - 27);
  EXPECT_EQ(to.Take().size(), 0U);
  EXPECT_THAT(from.Take(), testing::Contains(testing::HasSubstr("10.1.1.2 > 10.1.0.1")));
  EXPECT_EQ(line.Count(1, "exceeds-mtu"), 1U);
}

// Frames longer than the receiving interface's MTU are lost on a joined path, as they are on a
// wire.
TEST_F(JoinedPlaneTest, MtusThatChange) {
  JoinedLine line(1);
  for (const char* node_interface : {"0 eth0", "1 eth0", "1 eth1", "2 eth0"}) {
    line.Run(node_interface[0] - '0',
             fmt::format("ip link set {} mtu 9000", std::string(node_interface).substr(2)));
  }
  EndTap from(line.client(), "n0"), to(line.client(), "n2");
  Join(line, from);
  to.Take();
  const auto send = [&](size_t payload) {
    from.Send(Build(Ethernet{.source = MacOnLine(0, 1), .destination = MacOnLine(0, 2)} /
                    Ipv4{.source = "10.1.0.1", .destination = "10.1.1.2"} /
                    Udp{.source = 1, .destination = 2} / Counting(payload)));
  };
  AwaitJoined(
      [&] {
        send(4000 - 28);
        return Datagrams(to.Take()) == 1;
      },
      "long frames arrive");
  line.Run(2, "ip link set eth0 mtu 1500");
  AwaitJoined(
      [&] {
        to.Take();
        send(4000 - 28);
        send(100);
        usleep(10000);
        return Datagrams(to.Take()) == 1;
      },
      "long frames are lost");
}

// A router that has learned a smaller path MTU uses this MTU when it forwards IPv6 packets
// (net/ipv6/ip6_output.c, ip6_forward()).
TEST_F(JoinedPlaneTest, APathMtuThatARouterWasTold) {
  JoinedLine line(3);
  EndTap from(line.client(), "n0"), to(line.client(), "n4");
  Join(line, from);
  const auto send = [&](size_t payload) {
    from.Send(Build(Ethernet{.source = MacOnLine(0, 1), .destination = MacOnLine(0, 2)} /
                    Ipv6{.source = "2001:db8::1", .destination = "2001:db8:3::2"} /
                    Udp{.source = 1, .destination = 2} / Counting(payload)));
    from.Send(line.Packet6(0));
  };
  // Makes n2 learn the path MTU: sends it an ICMPv6 error that quotes an echo request of n2.
  const auto tell = [&](uint32_t mtu) {
    const auto packet =
        Build(Ethernet{} / Ipv6{.source = "2001:db8:1::2", .destination = "2001:db8:3::2"} /
              Icmpv6{.type = 128, .rest = 7} / Counting(64));
    const std::string quoted(reinterpret_cast<const char*>(packet.data()) + 14, packet.size() - 14);
    from.Send(Build(Ethernet{.source = MacOnLine(0, 1), .destination = MacOnLine(0, 2)} /
                    Ipv6{.source = "2001:db8::1", .destination = "2001:db8:1::2"} /
                    Icmpv6{.type = 2, .rest = mtu} / Payload{quoted}));
  };
  to.Take();
  send(1400 - 48);
  EXPECT_EQ(Datagrams(to.Take()), 2U);
  from.Take();
  tell(1350);
  send(1400 - 48);
  EXPECT_EQ(Datagrams(to.Take()), 1U) << "the short one";
  EXPECT_THAT(from.Take(), testing::Contains(testing::HasSubstr("icmpv6 2/0")));
  // While n2's kernel has this path MTU exception, paths to the destination end at n2 and begin
  // again there.
  AwaitJoined(
      [&] {
        const uint64_t to_it = line.Count(1, "joined"), through_it = line.Count(2, "joined");
        send(1350 - 48);
        EXPECT_EQ(Datagrams(to.Take()), 2U);
        return line.Count(1, "joined") == to_it + 2 && line.Count(2, "joined") == through_it;
      },
      "no path goes through the router");
}

// A packet whose source is an address of a router: only this router's kernel discards the packet.
TEST_F(JoinedPlaneTest, AForgedSource) {
  JoinedLine line(3);
  EndTap from(line.client(), "n0"), to(line.client(), "n4");
  Join(line, from);
  to.Take();
  const auto send = [&](const char* source) {
    from.Send(Build(Ethernet{.source = MacOnLine(0, 1), .destination = MacOnLine(0, 2)} /
                    Ipv4{.source = source, .destination = "10.1.3.2"} /
                    Udp{.source = 1, .destination = 2}));
  };
  send("10.1.2.1");  // 10.1.2.1 is an address of n2
  EXPECT_EQ(to.Take().size(), 0U);
  // 10.1.3.2 is an address of n4, which is not a router of the path. The kernel of n4 discards the
  // packet, too.
  send("10.1.3.2");
  send("10.9.9.9");
  EXPECT_THAT(to.Take(), testing::Contains(testing::HasSubstr("10.9.9.9")));
  EXPECT_EQ(line.Count(1, "own-source"), 1U);
}

// A change after which a router does more than forward packets. The data plane notices it before
// the command returns or soon afterwards.
struct Change {
  const char* name;
  int node;
  const char* command;
  size_t arrive;  // the number of packets that arrive, of two packets, one of each family
};

class JoinedPlaneChangeTest : public JoinedPlaneTest, public testing::WithParamInterface<Change> {};

TEST_P(JoinedPlaneChangeTest, PathsAreForgotten) {
  const Change& change = GetParam();
  JoinedLine line(3);
  EndTap from(line.client(), "n0"), to(line.client(), "n4");
  Join(line, from);
  line.Run(change.node, change.command);
  // A path that ends before the changed node may be joined again.
  AwaitJoined(
      [&] {
        const uint64_t before = line.Count(2, "joined");
        to.Take();
        from.Send(line.Packet(1));
        from.Send(line.Packet6(1));
        usleep(20000);
        const size_t came = to.Take().size();
        const uint64_t joined = line.Count(2, "joined") - before;
        return came == change.arrive && joined < 2;
      },
      change.name);
}

INSTANTIATE_TEST_SUITE_P(
    All, JoinedPlaneChangeTest,
    testing::Values(
        Change{"route_removed", 2, "ip route del 10.1.3.0/24", 1},
        Change{"route_removed_v6", 2, "ip route del 2001:db8:3::/64", 1},
        Change{"blackhole", 2, "ip route add blackhole 10.1.3.2/32", 1},
        Change{"rule", 2, "ip rule add prio 100 from 10.1.0.1 blackhole", 1},
        Change{"forwarding_off", 2, "echo 0 > /proc/sys/net/ipv4/ip_forward", 1},
        Change{"filter", 2, "echo 1 > /proc/sys/net/ipv4/conf/eth0/rp_filter", 2},
        Change{"neighbour", 2, "ip neigh replace 10.1.2.2 lladdr 02:00:00:00:00:99 dev eth1", 1},
        Change{"type_of_service", 2, "ip route add unreachable 10.1.3.2/32 tos 0x10", 2},
        Change{"nftables", 2,
               "nft 'add table inet t; add chain inet t f { type filter hook forward priority 0; "
               "policy drop; }'",
               0},
        Change{"ipsec", 2, "ip xfrm policy add src 10.1.0.1 dst 10.1.3.2 dir fwd action block", 1},
        Change{"link_down", 2, "ip link set eth1 down", 0},
        Change{"far_link_down", 3, "ip link set eth0 down", 0},
        Change{"address", 2, "ip addr add 10.1.3.2/32 dev lo", 1},
        Change{"metrics", 2, "ip route replace 10.1.3.0/24 via 10.1.2.2 metric 9 mtu 1000", 2}),
    [](const auto& each) { return std::string(each.param.name); });

// A process that reads a router's packets gets them within a second; after the process has ended,
// paths are joined again.
TEST_F(JoinedPlaneTest, WhoReadsARoutersPacketsGetsThem) {
  JoinedLine line(3);
  EndTap from(line.client(), "n0");
  Join(line, from);
  ProgramOptions reader;
  reader.node = "n2";
  reader.arguments = {"python3", "-c",
                      "import socket\n"
                      "s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))\n"
                      "while b'\\x07\\xd5' not in s.recv(9000): pass\n"};
  const Program program = line.client().Spawn(reader);
  AwaitJoined(
      [&] {
        from.Send(line.Packet(5));  // the packet's destination port is 2005
        int32_t status = -1;
        pollfd wait{program.exit_status.get(), POLLIN, 0};
        return poll(&wait, 1, 20) == 1 &&
               read(program.exit_status.get(), &status, sizeof status) == sizeof status &&
               status == 0;
      },
      "the reader gets a packet");
  Join(line, from);
}

TEST_F(JoinedPlaneTest, RoutesMayAskForATypeOfService) {
  JoinedLine line(3);
  line.Run(2, "ip route add unreachable 10.1.3.2/32 tos 0x10");
  EndTap from(line.client(), "n0"), to(line.client(), "n4");
  Join(line, from);
  to.Take();
  for (int i = 0; i < 20; ++i) {
    for (const uint8_t tos : {0x10, 0x13, 0x00, 0x03}) {
      from.Send(Build(Ethernet{.source = MacOnLine(0, 1), .destination = MacOnLine(0, 2)} /
                      Ipv4{.source = "10.1.0.1", .destination = "10.1.3.2", .tos = tos} /
                      Udp{.source = 1, .destination = 2}));
    }
    usleep(1000);
  }
  EXPECT_EQ(Datagrams(to.Take()), 40U);
}

TEST_F(JoinedPlaneTest, ManyDestinations) {
  JoinedLine line(2);
  for (const int node : {0, 1}) line.Run(node, "ip route add 10.200.0.0/16 via 10.1.0.2 || true");
  line.Run(1, "ip route replace 10.200.0.0/16 via 10.1.1.2");
  line.Run(2, "ip route add 10.200.0.0/16 via 10.1.2.2");
  EndTap from(line.client(), "n0"), to(line.client(), "n3");
  constexpr int kDestinations = 2000;
  const auto send_all = [&] {
    size_t came = 0;
    for (int i = 0; i < kDestinations; ++i) {
      from.Send(Build(
          Ethernet{.source = MacOnLine(0, 1), .destination = MacOnLine(0, 2)} /
          Ipv4{.source = "10.1.0.1", .destination = fmt::format("10.200.{}.{}", i / 250, i % 250)} /
          Udp{.source = 1, .destination = 2}));
      came += Datagrams(to.Take());
    }
    usleep(10000);
    return came + Datagrams(to.Take());
  };
  Join(line, from);
  usleep(10000);
  to.Take();
  AwaitJoined(
      [&] {
        const uint64_t before = line.Count(2, "joined");
        EXPECT_EQ(send_all(), size_t{kDestinations});
        return line.Count(2, "joined") >= before + kDestinations;
      },
      "all are joined");
}

}  // namespace
}  // namespace viaduct::broker
