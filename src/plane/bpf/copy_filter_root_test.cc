// Tests the eBPF program that discards a kernel's copies of frames (copy.bpf.c): which frames it
// discards (BPF_PROG_TEST_RUN). Needs root.
#include <gtest/gtest.h>
#include <unistd.h>

#include <functional>

#include "base/wire/test/packet_builder.h"
#include "plane/bpf/copy_filter.h"
#include "sys/network/link.h"
#include "sys/network/netns.h"

namespace viaduct::bpf {
namespace {

using namespace wire::packet;  // NOLINT(google-build-using-namespace): packets read like packets
using wire::Family;
using Taker = CopyFilter::Taker;

const Ethernet kForUs{.source = "02:00:00:00:01:02", .destination = "02:00:00:00:01:01"};

// A node with eth0, whose addresses are 10.0.0.1 (in 10.0.0.0/24), fd00::1 and fd00:9::9; the node
// has routes to fd00::/64 and fd00:9::/48, and an unreachable route to fd00:9:0:1::/64.
struct Receiver {
  Receiver() {
    sys::VethEnd end, peer;
    end.name = "eth0";
    end.mac = wire::MacAddress::Parse(kForUs.destination);
    peer.name = "peer0";
    session.CreateVethPair(end, peer);
    ifindex = session.IfIndex("eth0");
    for (const char* own : {"10.0.0.1/32", "10.0.0.255/32", "127.0.0.0/8", "fd00::1/128",
                            "fd00:9::9/128", "fd00:9:0:1::/64"}) {
      Set(own, Taker::kKernel);
    }
    for (const char* routed : {"fd00::/64", "fd00:9::/48"}) Set(routed, Taker::kForwarder);
    filter.Discard({Family::kIpv4, Family::kIpv6});
  }
  void Set(const char* network, Taker taker) {
    EXPECT_TRUE(filter.Set(wire::IpPrefix::Parse(network), taker)) << network;
  }
  // Returns whether the program discards the frame; fails the test if the frame is neither
  // discarded nor passed to the kernel.
  bool IsDiscarded(const std::vector<std::byte>& frame) const {
    const Verdict verdict = filter.Try(ifindex, frame);
    EXPECT_EQ(verdict.frame, frame);
    const bool is_discarded = verdict.action == Verdict::Action::kDropped;
    EXPECT_TRUE(is_discarded || verdict.action == Verdict::Action::kToKernel);
    return is_discarded;
  }
  bool IsDiscarded(const Packet& packet) const { return IsDiscarded(Build(packet)); }
  bool IsDiscarded(const std::string& destination) const {
    if (wire::IpAddress::Parse(destination).family == Family::kIpv4) {
      return IsDiscarded(kForUs / Ipv4{.source = "10.0.0.2", .destination = destination} / Udp{});
    }
    return IsDiscarded(kForUs / Ipv6{.source = "fd00::2", .destination = destination} / Udp{});
  }

  sys::Netlink session;
  int ifindex = 0;
  CopyFilter filter;
};

class CopyFilterTest : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root (network namespaces)";
    if (const std::string why = CopyFilterUnavailable(); !why.empty()) GTEST_SKIP() << why;
  }
  static void Run(const std::function<void(Receiver&)>& test) {
    sys::InScratchNamespace([&] {
      Receiver receiver;
      test(receiver);
    });
  }
};

TEST_F(CopyFilterTest, DiscardsWhatTheForwarderTakes) {
  Run([](Receiver& receiver) {
    // IPv4 packets to other nodes are discarded with and without a route, because the forwarder
    // also answers IPv4 packets without a route.
    for (const char* others : {"10.0.0.2", "10.9.0.1", "192.0.2.1", "223.255.255.255", "1.0.0.0"}) {
      EXPECT_TRUE(receiver.IsDiscarded(others)) << others;
    }
    for (const char* routed : {"fd00::2", "fd00:9::8", "fd00:9:0:2::1"}) {
      EXPECT_TRUE(receiver.IsDiscarded(routed)) << routed;
    }
  });
}

TEST_F(CopyFilterTest, LeavesTheKernelWhatItReceivesOrAnswers) {
  Run([](Receiver& receiver) {
    for (const char* its : {"10.0.0.1", "10.0.0.255", "127.0.0.1", "127.9.9.9", "0.0.0.0",
                            "224.0.0.5", "239.255.0.1", "240.0.0.1", "255.255.255.255", "fd00::1",
                            "fd00:9::9", "fe80::1", "ff02::1", "ff05::5", "::1", "::",
                            // Packets to addresses without a route, or with an unreachable route,
                            // are left to the kernel, which sends the ICMPv6 errors.
                            "fd00:5::1", "fd00:9:0:1::1"}) {
      EXPECT_FALSE(receiver.IsDiscarded(its)) << its;
    }
  });
}

TEST_F(CopyFilterTest, LeavesOtherFramesToTheKernel) {
  Run([](Receiver& receiver) {
    const Ipv4 ipv4{.source = "10.0.0.2", .destination = "10.9.0.1"};
    const Ipv6 ipv6{.source = "fd00::2", .destination = "fd00:9::8"};
    for (const char* mac : {"ff:ff:ff:ff:ff:ff", "01:00:5e:00:00:05", "02:00:00:00:09:09"}) {
      EXPECT_FALSE(receiver.IsDiscarded(Ethernet{.destination = mac} / ipv4 / Udp{})) << mac;
      EXPECT_FALSE(receiver.IsDiscarded(Ethernet{.destination = mac} / ipv6 / Udp{})) << mac;
    }
    EXPECT_FALSE(receiver.IsDiscarded(kForUs / Arp{}));
    EXPECT_FALSE(receiver.IsDiscarded(kForUs / Vlan{.id = 5} / ipv4 / Udp{}));
    EXPECT_FALSE(receiver.IsDiscarded(kForUs / Vlan{} / ipv6 / Udp{}));
  });
}

TEST_F(CopyFilterTest, LeavesPacketsWithOptionsAndBrokenOnesToTheKernel) {
  Run([](Receiver& receiver) {
    constexpr size_t kIp = 14;
    const auto ipv4 = Build(kForUs / Ipv4{.destination = "10.9.0.1"} / Udp{} / Counting(8));
    const auto ipv6 = Build(kForUs / Ipv6{.destination = "fd00:9::8"} / Udp{} / Counting(8));
    EXPECT_TRUE(receiver.IsDiscarded(ipv4));
    EXPECT_TRUE(receiver.IsDiscarded(ipv6));
    auto with_options = ipv4;
    with_options[kIp] = std::byte{0x46};
    EXPECT_FALSE(receiver.IsDiscarded(with_options));
    auto hop_by_hop = ipv6;
    hop_by_hop[kIp + 6] = std::byte{0};
    EXPECT_FALSE(receiver.IsDiscarded(hop_by_hop));
    for (auto frame : {ipv4, ipv6}) {
      frame[kIp] = std::byte{0x55};
      EXPECT_FALSE(receiver.IsDiscarded(frame));
    }
  });
}

TEST_F(CopyFilterTest, FollowsEveryChangeAtOnce) {
  Run([](Receiver& receiver) {
    receiver.Set("10.9.0.0/16", Taker::kKernel);
    EXPECT_FALSE(receiver.IsDiscarded("10.9.0.1"));
    receiver.filter.Remove(wire::IpPrefix::Parse("10.9.0.0/16"));
    receiver.filter.Remove(wire::IpPrefix::Parse("10.9.0.0/16"));
    EXPECT_TRUE(receiver.IsDiscarded("10.9.0.1"));
    receiver.Set("fd00::/64", Taker::kKernel);
    EXPECT_FALSE(receiver.IsDiscarded("fd00::2"));
    receiver.filter.Discard({Family::kIpv6});
    EXPECT_FALSE(receiver.IsDiscarded("10.9.0.1"));
    EXPECT_TRUE(receiver.IsDiscarded("fd00:9::8"));
    receiver.filter.Discard({Family::kIpv4});
    EXPECT_TRUE(receiver.IsDiscarded("10.9.0.1"));
    EXPECT_FALSE(receiver.IsDiscarded("fd00:9::8"));
  });
}

TEST_F(CopyFilterTest, SaysThatItIsFull) {
  CopyFilter filter(1);
  for (const char* first : {"10.0.0.1/32", "fd00::1/128"}) {
    EXPECT_TRUE(filter.Set(wire::IpPrefix::Parse(first), Taker::kKernel));
    EXPECT_TRUE(filter.Set(wire::IpPrefix::Parse(first), Taker::kForwarder));
  }
  EXPECT_FALSE(filter.Set(wire::IpPrefix::Parse("10.0.0.2/32"), Taker::kKernel));
  EXPECT_FALSE(filter.Set(wire::IpPrefix::Parse("fd00::2/128"), Taker::kKernel));
}

}  // namespace
}  // namespace viaduct::bpf
