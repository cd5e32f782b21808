// Tests which packets reach the kernel of a node that uses the forwarder in userspace, by the
// kernel's counters. Needs root.
#include <gtest/gtest.h>
#include <linux/if_ether.h>
#include <linux/pkt_sched.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <functional>
#include <memory>

#include "base/error.h"
#include "base/file.h"
#include "base/wire/test/packet_builder.h"
#include "plane/fib/test_route.h"
#include "plane/fib/test_router_place.h"
#include "plane/fib/userspace_routes.h"
#include "sys/network/ip_statistics.h"
#include "sys/network/packet_socket.h"
#include "sys/network/qdisc.h"
#include "sys/network/route_rule.h"

namespace viaduct::fib {
namespace {

using namespace wire::packet;  // NOLINT(google-build-using-namespace): packets read like packets

constexpr int kFrames = 20;

// The router's namespace, and a station beyond eth0 that sends frames to the router.
struct Neighbourhood : test::RouterPlace {
  Neighbourhood() { Open(); }
  void Open() {
    sender = sys::OpenPacketSocket("peer0", false);
    tap = sys::OpenPacketSocket("eth0", false);
    sys::BindPacketSocket(tap.fd.get(), tap.ifindex, ETH_P_ALL);
    // The socket sends only: no frame of this type arrives.
    sys::BindPacketSocket(sender.fd.get(), sender.ifindex, ETH_P_LOOP);
  }

  static uint64_t Received() {
    sys::IpCounters counters;
    sys::AddGroups(ReadFile("/proc/thread-self/net/snmp"), counters);
    sys::AddLines(ReadFile("/proc/thread-self/net/snmp6"), counters);
    return counters["Ip.InReceives"] + counters["Ip6InReceives"];
  }

  void Send(const std::vector<std::byte>& frame) const {
    ASSERT_EQ(send(sender.fd.get(), frame.data(), frame.size(), 0),
              static_cast<ssize_t>(frame.size()));
  }
  int CountTapped() const {
    std::array<std::byte, 2048> frame;
    int count = 0;
    while (recv(tap.fd.get(), frame.data(), frame.size(), MSG_DONTWAIT) > 0) ++count;
    return count;
  }

  // Sends kFrames frames to this destination; returns how many of them reach the kernel's stack.
  // Checks that a packet socket receives all of them.
  int Reach(const std::string& destination) {
    const Ethernet outer{.source = "02:00:00:00:01:02",
                         .destination = netlink.GetLink("eth0").mac.ToString()};
    const bool is_ipv4 = wire::IpAddress::Parse(destination).family == wire::Family::kIpv4;
    const std::vector<std::byte> frame =
        is_ipv4 ? Build(outer / Ipv4{.source = "10.0.0.2", .destination = destination} / Udp{})
                : Build(outer / Ipv6{.source = "fd00::2", .destination = destination} / Udp{});
    CountTapped();
    const uint64_t before = Received();
    for (int i = 0; i < kFrames; ++i) Send(frame);
    const uint64_t after = Received();
    EXPECT_GE(CountTapped(), kFrames) << destination;
    return static_cast<int>(after - before);
  }
  bool IsDiscarded(const std::string& destination) {
    const int reached = Reach(destination);
    EXPECT_TRUE(reached < kFrames / 2 || reached >= kFrames) << destination << ": " << reached;
    return reached < kFrames / 2;  // the kernel's own packets may be counted, too
  }

  sys::PacketSocket sender, tap;
};

// A Neighbourhood whose routes the data plane in userspace keeps.
struct Watched : Neighbourhood {
  Watched() { Follow(); }
  // Applies the kernel's changes to the data plane's routes as the broker does.
  void Follow() {
    constexpr int kTimeout = 200;  // ms; the kernel's work queues may delay changes
    for (pollfd changed{routes.EventFd(), POLLIN, 0}; poll(&changed, 1, kTimeout) > 0;) {
      routes.TakeEvents();
    }
  }

  UserspaceRoutes routes{place};
};

class KernelCopiesTest : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root (network namespaces)";
    if (const std::string why = bpf::CopyFilterUnavailable(); !why.empty()) GTEST_SKIP() << why;
  }
  static void Run(const std::function<void(Watched&)>& test) {
    sys::InScratchNamespace([&] {
      Watched watched;
      test(watched);
    });
  }
};

TEST_F(KernelCopiesTest, TheKernelGetsWhatItMayNeedOnly) {
  Run([](Watched& router) {
    for (const char* its :
         {"10.0.0.1", "10.0.1.1", "10.0.0.255", "224.0.0.1", "fd00::1", "ff02::1", "fd00:9::1"}) {
      EXPECT_FALSE(router.IsDiscarded(its)) << its;
    }
    for (const char* others : {"10.0.0.9", "10.9.0.1", "fd00::9"}) {
      EXPECT_TRUE(router.IsDiscarded(others)) << others;
    }
  });
}

TEST_F(KernelCopiesTest, FollowsRoutesAndAddresses) {
  Run([](Watched& router) {
    const Route route = test::MakeRoute("fd00:9::/48", "fd00::2");
    router.routes.Apply({.replaced = {}, .added = {route}, .removed = {}});
    EXPECT_TRUE(router.IsDiscarded("fd00:9::1"));
    router.routes.Apply({.replaced = {}, .added = {}, .removed = {route}});
    EXPECT_FALSE(router.IsDiscarded("fd00:9::1"));
    router.Add("eth1", "10.0.2.1/24");
    router.Add("eth0", "fd00::7/64");
    router.Follow();
    EXPECT_FALSE(router.IsDiscarded("10.0.2.1"));
    EXPECT_FALSE(router.IsDiscarded("fd00::7"));
    router.netlink.RemoveAddress(router.netlink.IfIndex("eth1"),
                                 wire::IpPrefix::Parse("10.0.2.1/24"));
    router.Follow();
    EXPECT_TRUE(router.IsDiscarded("10.0.2.1"));
  });
}

// While a change of the kernel's routes has not been read, no copies are discarded.
TEST_F(KernelCopiesTest, NothingIsDiscardedWhileAChangeIsNotRead) {
  Run([](Watched& router) {
    router.Add("eth1", "10.0.2.1/24");
    router.routes.Reinstall();
    EXPECT_FALSE(router.IsDiscarded("10.9.0.1"));
    router.Follow();
    EXPECT_TRUE(router.IsDiscarded("10.9.0.1"));
  });
}

TEST_F(KernelCopiesTest, TheKernelGetsEverythingWhileThereAreOtherRules) {
  Run([](Watched& router) {
    auto rule = sys::RuleRequest(
        {wire::IpPrefix::Parse("10.0.0.0/8"), wire::IpPrefix::Parse("0.0.0.0/0"), 100, 100});
    router.netlink.socket().Request(rule, "add a rule");
    router.Follow();
    EXPECT_FALSE(router.IsDiscarded("10.9.0.1"));
    EXPECT_TRUE(router.IsDiscarded("fd00::9"));
  });
  Run([](Watched& router) {
    const sys::QdiscPlace place{router.netlink.IfIndex("eth0"), TC_H_CLSACT,
                                TC_H_MAKE(TC_H_CLSACT, 0)};
    sys::AddDefaultQdisc(router.netlink, place, "clsact");
    router.Follow();
    EXPECT_FALSE(router.IsDiscarded("10.9.0.1"));
    EXPECT_FALSE(router.IsDiscarded("fd00::9"));
  });
}

TEST_F(KernelCopiesTest, TheKernelGetsEverythingWhileThereAreNftables) {
  if (std::system("nft --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "there is no nft";
  Run([](Watched& router) {
    ASSERT_EQ(std::system("nft add table inet mine"), 0);
    router.Follow();
    EXPECT_FALSE(router.IsDiscarded("10.9.0.1"));
    EXPECT_FALSE(router.IsDiscarded("fd00::9"));
    ASSERT_EQ(std::system("nft delete table inet mine"), 0);
    router.Follow();
    EXPECT_TRUE(router.IsDiscarded("10.9.0.1"));
    EXPECT_TRUE(router.IsDiscarded("fd00::9"));
  });
}

TEST_F(KernelCopiesTest, FollowsAnInterfaceThatIsMadeAnew) {
  Run([](Watched& router) {
    router.netlink.DeleteLink(router.netlink.IfIndex("eth0"));
    sys::VethEnd end, peer;
    end.name = "eth0";
    peer.name = "peer0";
    router.netlink.CreateVethPair(end, peer);
    for (const char* name : {"eth0", "peer0"}) {
      router.netlink.SetUp(router.netlink.IfIndex(name), true);
    }
    router.Follow();
    router.Open();
    EXPECT_TRUE(router.IsDiscarded("10.9.0.1"));
    EXPECT_FALSE(router.IsDiscarded("10.0.1.1"));
  });
}

// The program is detached from an interface that was moved to another namespace, where the node's
// addresses have no meaning.
TEST_F(KernelCopiesTest, LeavesAnInterfaceThatIsTakenAway) {
  Run([](Watched& router) {
    const UniqueFd elsewhere = sys::CreateNamelessNamespace();
    const int eth0 = router.netlink.IfIndex("eth0");
    const std::string mac = router.netlink.GetLink("eth0").mac.ToString();
    router.netlink.SetUp(eth0, false);
    router.netlink.MoveLink(eth0, elsewhere.get(), "eth0");
    sys::Netlink there(elsewhere.get());
    there.SetUp(there.IfIndex("eth0"), true);
    router.Follow();
    const sys::NamespaceScope scope(elsewhere.get());
    const auto frame = Build(Ethernet{.destination = mac} /
                             Ipv4{.source = "10.0.0.2", .destination = "10.9.0.1"} / Udp{});
    const uint64_t before = Watched::Received();
    for (int i = 0; i < kFrames; ++i) router.Send(frame);
    EXPECT_GE(Watched::Received() - before, uint64_t{kFrames});
  });
}

TEST_F(KernelCopiesTest, TheKernelDoesNotNeedWhatTheForwarderPassesUp) {
  sys::InScratchNamespace([] {
    Neighbourhood router;
    KernelCopies copies(router.place.namespace_fd);
    const int port = router.netlink.IfIndex("eth0");
    copies.Resume(router.netlink, {port});
    EXPECT_FALSE(router.IsDiscarded("fd01::1")) << "which it answers";
    for (const char* everything : {"0.0.0.0/0", "::/0"}) {
      copies.Write(wire::IpPrefix::Parse(everything), forward::Kind::kUp);
    }
    EXPECT_TRUE(router.IsDiscarded("10.9.0.1"));
    EXPECT_TRUE(router.IsDiscarded("fd01::1"));
  });
}

TEST_F(KernelCopiesTest, TheKernelGetsAFamilyWholeOfWhichThereIsTooMuch) {
  sys::InScratchNamespace([] {
    Neighbourhood router;
    KernelCopies copies(router.place.namespace_fd);
    wire::IpPrefix network = wire::IpPrefix::Parse("fd01::/64");
    for (size_t i = 0; i <= bpf::CopyFilter::kMaxNetworks; ++i) {
      network.address.bytes[6] = static_cast<uint8_t>(i >> 8);
      network.address.bytes[7] = static_cast<uint8_t>(i);
      copies.Write(network, forward::Kind::kForward);
    }
    copies.Resume(router.netlink, {router.netlink.IfIndex("eth0")});
    EXPECT_TRUE(router.IsDiscarded("10.9.0.1"));
    EXPECT_FALSE(router.IsDiscarded("fd01::1"));
  });
}

TEST_F(KernelCopiesTest, WithoutEbpfTheKernelGetsEverything) {
  setenv("VIADUCT_EBPF_LACKS", "tcx", 1);
  EXPECT_NE(bpf::CopyFilterUnavailable(), "");
  Run([](Watched& router) {
    EXPECT_FALSE(router.IsDiscarded("10.9.0.1"));
    EXPECT_FALSE(router.IsDiscarded("fd00::9"));
  });
  unsetenv("VIADUCT_EBPF_LACKS");
}

}  // namespace
}  // namespace viaduct::fib
