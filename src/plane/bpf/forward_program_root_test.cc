// Tests the forwarding eBPF program on single frames (BPF_PROG_TEST_RUN): its outcome for each kind
// of frame, and the frame afterwards. Needs root.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <functional>

#include "base/wire/test/packet_builder.h"
#include "plane/bpf/forward_program.h"
#include "sys/network/link.h"
#include "sys/network/netns.h"
#include "sys/network/sysctl.h"

namespace viaduct::bpf {
namespace {

using namespace wire::packet;  // NOLINT(google-build-using-namespace): packets read like packets

constexpr const char* kOurMac = "02:00:00:00:01:01";
constexpr const char* kNextMac = "02:00:00:00:02:02";
const Ethernet kToUs{.source = "02:00:00:00:01:02", .destination = kOurMac};

// A router with eth0 (10.0.0.1, 2001:db8:0::1), eth1 (10.0.1.1, 2001:db8:1::1; a wire) and eth2
// (10.0.2.1; not a wire). On each interface the neighbour with the address .2 is known; 10.9.0.0/16
// is routed to eth1's neighbour.
struct Router {
  Router() {
    sys::WriteSysctls(fd.get(), {{"net.ipv4.ip_forward", "1"},
                                 {"net.ipv6.conf.all.forwarding", "1"},
                                 {"net.ipv6.conf.default.accept_dad", "0"}});
    for (int i = 0; i < 3; ++i) MakePort(i);
    session.AddRoute(wire::IpPrefix::Parse("10.9.0.0/16"), wire::IpAddress::Parse("10.0.1.2"),
                     ports[1].ifindex);
    session.AddRoute(wire::IpPrefix::Parse("2001:db8:9::/48"),
                     wire::IpAddress::Parse("2001:db8:1::2"), ports[1].ifindex);
    forwarder = std::make_unique<ForwardProgram>(fd.get(), ports);
    forwarder->SetOwnAddresses(
        {wire::IpAddress::Parse("10.0.0.1"), wire::IpAddress::Parse("10.0.1.1")});
  }

  void MakePort(int number) {
    const std::string digit = std::to_string(number);
    sys::VethEnd end, peer;
    end.name = "eth" + digit;
    end.mac = wire::MacAddress::Parse(number == 0 ? kOurMac : "02:00:00:00:02:0" + digit);
    peer.name = "peer" + digit;
    session.CreateVethPair(end, peer);
    const int ifindex = session.IfIndex(end.name);
    // IPv6 is off at the peer, because the program would count the multicast listener reports that
    // the peer's kernel sends.
    sys::WriteSysctls(fd.get(), {{"net.ipv6.conf." + peer.name + ".disable_ipv6", "1"}});
    for (const std::string& name : {end.name, peer.name}) {
      session.SetUp(session.IfIndex(name), true);
    }
    session.AddAddress(ifindex, wire::IpPrefix::Parse("10.0." + digit + ".1/24"));
    session.AddAddress(ifindex, wire::IpPrefix::Parse("2001:db8:" + digit + "::1/64"));
    const wire::MacAddress neighbour = wire::MacAddress::Parse(kNextMac);
    session.AddPermanentNeighbour(ifindex, wire::IpAddress::Parse("10.0." + digit + ".2"),
                                  neighbour);
    session.AddPermanentNeighbour(ifindex, wire::IpAddress::Parse("2001:db8:" + digit + "::2"),
                                  neighbour);
    ports.push_back({ifindex, number == 2 ? std::nullopt : std::optional(neighbour)});
  }

  // Returns the name of the outcome that was counted; for a redirected frame, also a description of
  // the frame. A frame that is left to the kernel must be unchanged.
  std::string Try(const std::vector<std::byte>& frame) {
    const viaduct_port_counters before = forwarder->CountersOf(ports[0].ifindex);
    const Verdict verdict = forwarder->Try(ports[0].ifindex, frame);
    const viaduct_port_counters after = forwarder->CountersOf(ports[0].ifindex);
    std::string counted;
    for (int i = 0; i < VIADUCT_OUTCOMES; ++i) {
      if (after.packets[i] == before.packets[i] + 1) {
        counted += OutcomeName(static_cast<viaduct_outcome>(i));
      }
    }
    if (verdict.action == Verdict::Action::kRedirected)
      return counted + ": " + Describe(verdict.frame);
    if (verdict.action != Verdict::Action::kToKernel) return "another action";
    return verdict.frame == frame ? counted : counted + ", but changed";
  }
  std::string Try(const Packet& packet) { return Try(Build(packet)); }

  UniqueFd fd = sys::OpenCurrentNamespace();
  sys::Netlink session;
  std::vector<Interface> ports;
  std::unique_ptr<ForwardProgram> forwarder;
};

class ForwarderTest : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root (network namespaces)";
    if (const std::string why = Unavailable(); !why.empty()) GTEST_SKIP() << why;
  }
  static void Run(const std::function<void(Router&)>& test) {
    sys::InScratchNamespace([&] {
      Router router;
      test(router);
    });
  }
};

Packet From(const Ipv4& header) { return kToUs / header / Udp{} / Payload{"hello"}; }
Packet From(const Ipv6& header) { return kToUs / header / Udp{} / Payload{"hello"}; }
const Ipv4 kThrough4{.source = "10.0.0.2", .destination = "10.9.1.2"};
const Ipv6 kThrough6{.source = "2001:db8::2", .destination = "2001:db8:9::5"};

TEST_F(ForwarderTest, ForwardsUnicastOfBothFamilies) {
  Run([](Router& router) {
    EXPECT_EQ(router.Try(From(kThrough4)),
              "forwarded: " +
                  Describe(Build(Ethernet{.source = "02:00:00:00:02:01", .destination = kNextMac} /
                                 Ipv4{.source = "10.0.0.2", .destination = "10.9.1.2", .ttl = 63} /
                                 Udp{} / Payload{"hello"})));
    EXPECT_EQ(
        router.Try(From(kThrough6)),
        "forwarded: " +
            Describe(Build(
                Ethernet{.source = "02:00:00:00:02:01", .destination = kNextMac} /
                Ipv6{.source = "2001:db8::2", .destination = "2001:db8:9::5", .hop_limit = 63} /
                Udp{} / Payload{"hello"})));
  });
}

// Tests every TTL with several identifications, so that the addition that updates the header
// checksum also carries.
TEST_F(ForwarderTest, TheChecksumIsRightForEveryTtl) {
  Run([](Router& router) {
    for (int ttl = 2; ttl < 256; ++ttl) {
      Ipv4 header = kThrough4;
      header.ttl = static_cast<uint8_t>(ttl);
      for (const int id : {0, 1, 0x7fff, 0xffff, 257 * ttl}) {
        header.id = static_cast<uint16_t>(id);
        const std::string result = router.Try(From(header));
        EXPECT_THAT(result, testing::StartsWith("forwarded"));
        EXPECT_THAT(result, testing::Not(testing::HasSubstr("bad"))) << result;
      }
    }
  });
}

TEST_F(ForwarderTest, LeavesTheExpiringToTheKernel) {
  Run([](Router& router) {
    for (const uint8_t ttl : {0, 1}) {
      Ipv4 header = kThrough4;
      header.ttl = ttl;
      EXPECT_EQ(router.Try(From(header)), "ttl-expires");
      Ipv6 header6 = kThrough6;
      header6.hop_limit = ttl;
      EXPECT_EQ(router.Try(From(header6)), "ttl-expires");
    }
  });
}

TEST_F(ForwarderTest, LeavesWhatIsForTheNodeOrUnroutedToTheKernel) {
  Run([](Router& router) {
    const auto to = [&](const std::string& destination) {
      Ipv4 header = kThrough4;
      header.destination = destination;
      return router.Try(From(header));
    };
    EXPECT_EQ(to("10.0.0.1"), "local-or-no-route");
    EXPECT_EQ(to("10.0.1.255"), "local-or-no-route");
    EXPECT_EQ(to("192.0.2.1"), "local-or-no-route");
    EXPECT_EQ(to("10.0.1.77"), "no-neighbour");
    EXPECT_EQ(to("10.0.0.2"), "same-interface");
    EXPECT_EQ(to("10.0.2.2"), "not-a-wire");
    for (const char* never : {"224.0.0.5", "255.255.255.255", "127.0.0.1", "0.0.0.0"}) {
      EXPECT_EQ(to(never), "unusual-header") << never;
    }
    const auto to6 = [&](const std::string& destination) {
      Ipv6 header = kThrough6;
      header.destination = destination;
      return router.Try(From(header));
    };
    EXPECT_EQ(to6("2001:db8::1"), "local-or-no-route");
    EXPECT_EQ(to6("2001:dead::1"), "local-or-no-route");
    EXPECT_EQ(to6("2001:db8:1::77"), "no-neighbour");
    EXPECT_EQ(to6("2001:db8:2::2"), "not-a-wire");
    for (const char* never : {"ff02::5", "fe80::1", "::1", "::"}) {
      EXPECT_EQ(to6(never), "unusual-header") << never;
    }
  });
}

TEST_F(ForwarderTest, LeavesSourcesThatTheKernelRefusesToIt) {
  Run([](Router& router) {
    const auto from = [&](const std::string& source) {
      Ipv4 header = kThrough4;
      header.source = source;
      return router.Try(From(header));
    };
    EXPECT_EQ(from("10.0.1.1"), "own-source");
    for (const char* never : {"224.0.0.5", "255.255.255.255", "127.0.0.1", "0.0.0.0"}) {
      EXPECT_EQ(from(never), "unusual-header") << never;
    }
    router.forwarder->SetOwnAddresses({wire::IpAddress::Parse("10.0.0.2")});
    EXPECT_EQ(from("10.0.0.2"), "own-source");
    EXPECT_THAT(from("10.0.1.1"), testing::StartsWith("forwarded"));
    router.forwarder->SetOwnAddresses({});
    EXPECT_THAT(from("10.0.0.2"), testing::StartsWith("forwarded"));
  });
}

TEST_F(ForwarderTest, LeavesOtherFramesToTheKernel) {
  Run([](Router& router) {
    EXPECT_EQ(router.Try(kToUs / Arp{}), "not-ip");
    EXPECT_EQ(router.Try(kToUs / Vlan{.id = 5} / kThrough4 / Udp{}), "not-ip");
    EXPECT_EQ(router.Try(Ethernet{.destination = "ff:ff:ff:ff:ff:ff"} / kThrough4 / Udp{}),
              "not-unicast");
    EXPECT_EQ(router.Try(Ethernet{.destination = "02:00:00:00:09:09"} / kThrough4 / Udp{}),
              "not-unicast");
  });
}

TEST_F(ForwarderTest, LeavesMalformedHeadersToTheKernel) {
  Run([](Router& router) {
    constexpr size_t kIp = 14;
    const std::vector<std::byte> good4 = Build(From(kThrough4));
    // The offsets of the header bytes that the test corrupts: version and header length (0x46: with
    // options), total length, checksum.
    for (const size_t offset : {kIp, kIp + 3, kIp + 10}) {
      auto frame = good4;
      frame[offset] ^= std::byte{0x03};
      EXPECT_EQ(router.Try(frame), "unusual-header") << offset;
    }
    const std::vector<std::byte> good6 = Build(From(kThrough6));
    for (const size_t offset : {kIp, kIp + 5}) {  // corrupts the version, the payload length
      auto frame = good6;
      frame[offset] ^= std::byte{0x13};
      EXPECT_EQ(router.Try(frame), "unusual-header") << offset;
    }
    auto hop_by_hop = good6;
    hop_by_hop[kIp + 6] = std::byte{0};
    EXPECT_EQ(router.Try(hop_by_hop), "unusual-header");
    for (size_t length = kIp + 40; length < good6.size(); ++length) {
      EXPECT_EQ(router.Try({good6.begin(), good6.begin() + static_cast<ptrdiff_t>(length)}),
                "unusual-header");
    }
    for (size_t length = kIp + 20; length < good4.size(); ++length) {
      EXPECT_EQ(router.Try({good4.begin(), good4.begin() + static_cast<ptrdiff_t>(length)}),
                "unusual-header");
    }
  });
}

TEST_F(ForwarderTest, LeavesWhatExceedsTheMtuToTheKernel) {
  Run([](Router& router) {
    router.session.SetMtu(router.ports[1].ifindex, 1300);
    const auto of_size = [&](const auto& header, size_t size) {
      return router.Try(kToUs / header / Udp{} / Counting(size));
    };
    EXPECT_THAT(of_size(kThrough4, 1300 - 28), testing::StartsWith("forwarded"));
    EXPECT_EQ(of_size(kThrough4, 1301 - 28), "exceeds-mtu");
    EXPECT_THAT(of_size(kThrough6, 1300 - 48), testing::StartsWith("forwarded"));
    EXPECT_EQ(of_size(kThrough6, 1301 - 48), "exceeds-mtu");
  });
}

TEST_F(ForwarderTest, FollowsTheKernelsRoutesAtOnce) {
  Run([](Router& router) {
    router.session.SetUp(router.ports[1].ifindex, false);
    EXPECT_EQ(router.Try(From(kThrough4)), "local-or-no-route");
    sys::WriteSysctls(router.fd.get(), {{"net.ipv4.ip_forward", "0"}});
    EXPECT_EQ(router.Try(From(kThrough4)), "local-or-no-route");
  });
}

}  // namespace
}  // namespace viaduct::bpf
