// Tests of KernelRoutes on a real kernel table, in a namespace that is removed at the end of the
// test. Needs root.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/rtnetlink.h>
#include <netlink/msg.h>
#include <unistd.h>

#include <functional>

#include "plane/fib/kernel_routes.h"
#include "plane/fib/test_route.h"
#include "sys/network/netns.h"

namespace viaduct::fib {
namespace {

using testing::HasSubstr;

Route MakeRoute(const std::string& destination, const std::string& gateway,
                const std::string& interface = "eth0", uint32_t metric = 0) {
  return test::MakeRoute(destination, gateway, metric, interface);
}

// Returns a route through eth0 and eth1.
Route MakeMultipath(const std::string& destination, const std::string& gateway0,
                    const std::string& gateway1) {
  Route route = MakeRoute(destination, gateway0);
  route.next_hops.push_back(MakeRoute(destination, gateway1, "eth1").next_hops.front());
  return route;
}

// Returns the number of routes of one originator (rtm_protocol) in the kernel's main tables, for
// one family or, with AF_UNSPEC, for both.
size_t CountRoutes(sys::Netlink& netlink, int protocol, int family = AF_UNSPEC) {
  sys::NetlinkMessage query(RTM_GETROUTE, NLM_F_REQUEST | NLM_F_DUMP);
  query.AppendHeader(rtmsg{});
  size_t count = 0;
  netlink.socket().Query(query, "list routes", [&](const nlmsghdr* message) {
    const auto* route = static_cast<const rtmsg*>(NLMSG_DATA(message));
    if (message->nlmsg_type == RTM_NEWROUTE && route->rtm_protocol == protocol &&
        route->rtm_table == RT_TABLE_MAIN && (family == AF_UNSPEC || route->rtm_family == family)) {
      ++count;
    }
  });
  return count;
}

struct Place {
  UniqueFd fd = sys::OpenCurrentNamespace();
  sys::Netlink netlink;
  int eth0 = 0;
  int eth1 = 0;
  KernelRoutes routes{fd.get()};
  size_t Ours() { return CountRoutes(netlink, kRouteProtocol); }
};

class KernelRoutesTest : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root (network namespaces)";
  }
  // Runs a test with two interfaces, which have 10.0.0.1/24 and 10.0.1.1/24, and fd00::1/64 on the
  // first; each is wired to a peer.
  static void Run(const std::function<void(Place&)>& test) {
    sys::InScratchNamespace([&] {
      Place place;
      for (const char* side : {"0", "1"}) {
        sys::VethEnd end, peer;
        end.name = std::string("eth") + side;
        peer.name = std::string("peer") + side;
        place.netlink.CreateVethPair(end, peer);
      }
      for (const char* name : {"eth0", "peer0", "eth1", "peer1"}) {
        place.netlink.SetUp(place.netlink.IfIndex(name), true);
      }
      place.eth0 = place.netlink.IfIndex("eth0");
      place.eth1 = place.netlink.IfIndex("eth1");
      place.netlink.AddAddress(place.eth0, wire::IpPrefix::Parse("10.0.0.1/24"));
      place.netlink.AddAddress(place.eth0, wire::IpPrefix::Parse("fd00::1/64"));
      place.netlink.AddAddress(place.eth1, wire::IpPrefix::Parse("10.0.1.1/24"));
      test(place);
    });
  }
};

TEST_F(KernelRoutesTest, InstallsEveryKindAProtocolAsksFor) {
  Run([](Place& place) {
    RouteChanges changes;
    changes.added = {
        MakeRoute("0.0.0.0/0", "10.0.0.2"),
        MakeRoute("10.0.0.2/32", "10.0.0.2"),    // a host route to the neighbour itself
        MakeRoute("10.9.0.0/16", "10.0.0.2"),    // a route through the neighbour of the host route
        MakeRoute("10.8.0.1/32", "192.0.2.77"),  // a neighbour that no interface's prefix covers
        MakeRoute("10.7.0.0/24", ""),
        MakeRoute("10.9.0.0/16", "10.0.1.2", "eth1", 20),
        MakeRoute("::/0", "fd00::2"),
        MakeRoute("2001:db8::/32", "fe80::2"),
        MakeRoute("fd00::2/128", "fd00::2"),
    };
    place.routes.Apply(changes);
    EXPECT_EQ(place.Ours(), changes.added.size());
    RouteChanges back;
    back.removed = changes.added;
    place.routes.Apply(back);
    EXPECT_EQ(place.Ours(), 0u);
  });
}

TEST_F(KernelRoutesTest, TenThousandComeAndGoAtOnce) {
  Run([](Place& place) {
    RouteChanges changes;
    for (uint32_t i = 0; i < 10000; ++i) {
      changes.added.push_back(MakeRoute("0.0.0.0/32", "10.0.0.2"));
      changes.added.back().destination.address = wire::IpAddress::FromIpv4(0x14000000 + i);
    }
    place.routes.Apply(changes);
    EXPECT_EQ(place.Ours(), 10000u);
    RouteChanges other;
    for (const Route& route : changes.added) {
      other.replaced.push_back(route);
      other.replaced.back().next_hops[0].gateway = wire::IpAddress::Parse("10.0.0.3");
    }
    place.routes.Apply(other);
    EXPECT_EQ(place.Ours(), 10000u);
    RouteChanges back;
    back.removed = other.replaced;
    place.routes.Apply(back);
    EXPECT_EQ(place.Ours(), 0u);
  });
}

TEST_F(KernelRoutesTest, RefusedRoutesAreNamedAndTheRestIsApplied) {
  Run([](Place& place) {
    RouteChanges changes;
    changes.added = {
        MakeRoute("10.9.1.0/24", "10.0.0.2"),
        MakeRoute("10.9.2.0/24", "10.0.0.1"),  // refused: the gateway is the node's own address
        MakeRoute("10.9.3.0/24", "10.0.0.2", "nowhere0"),
        MakeRoute("10.9.4.0/24", "224.0.0.5"),
        MakeRoute("10.9.5.0/24", "10.0.0.2"),
    };
    try {
      place.routes.Apply(changes);
      FAIL() << "nothing was thrown";
    } catch (const RouteError& error) {
      ASSERT_EQ(error.refused().size(), 3u);
      EXPECT_THAT(error.what(), HasSubstr("3 of 5 routes refused"));
      EXPECT_THAT(error.what(),
                  HasSubstr("10.9.3.0/24 via 10.0.0.2 dev nowhere0: the interface does not exist"));
      EXPECT_THAT(error.what(), HasSubstr("10.9.2.0/24 via 10.0.0.1 dev eth0: "));
    }
    EXPECT_EQ(place.Ours(), 2u);
    EXPECT_EQ(place.routes.Size(), 2u);
  });
}

TEST_F(KernelRoutesTest, EveryFailureOfAFullBatchIsNoticed) {
  Run([](Place& place) {
    RouteChanges changes;
    for (uint32_t i = 0; i < 300; ++i) {
      changes.added.push_back(MakeRoute("0.0.0.0/32", i % 3 == 0 ? "10.0.0.1" : "10.0.0.2"));
      changes.added.back().destination.address = wire::IpAddress::FromIpv4(0x14000000 + i);
    }
    try {
      place.routes.Apply(changes);
      FAIL() << "nothing was thrown";
    } catch (const RouteError& error) {
      EXPECT_EQ(error.refused().size(), 100u);
    }
    EXPECT_EQ(place.Ours(), 200u);
  });
}

TEST_F(KernelRoutesTest, OthersRoutesAreNotTouched) {
  Run([](Place& place) {
    place.netlink.AddRoute(wire::IpPrefix::Parse("10.9.0.0/24"), wire::IpAddress::Parse("10.0.0.9"),
                           place.eth0);
    const size_t theirs = CountRoutes(place.netlink, RTPROT_STATIC);
    ASSERT_EQ(theirs, 1u);
    const Route same = MakeRoute("10.9.0.0/24", "10.0.0.2");
    RouteChanges changes;
    changes.added = {same};
    EXPECT_THROW(place.routes.Apply(changes), RouteError);
    changes = {};
    changes.replaced = {same};
    EXPECT_THROW(place.routes.Apply(changes), RouteError);
    changes = {};
    changes.removed = {same};
    place.routes.Apply(changes);
    // A route to the kernel's own connected network counts as installed.
    changes = {};
    changes.added = {MakeRoute("10.0.0.0/24", "")};
    // Only IPv4 routes are counted, as IPv6's link-local routes appear only after duplicate address
    // detection.
    const size_t kernels = CountRoutes(place.netlink, RTPROT_KERNEL, AF_INET);
    place.routes.Apply(changes);
    std::swap(changes.added, changes.removed);
    place.routes.Apply(changes);
    EXPECT_EQ(CountRoutes(place.netlink, RTPROT_STATIC), theirs);
    EXPECT_EQ(CountRoutes(place.netlink, RTPROT_KERNEL, AF_INET), kernels);
  });
}

// Returns the number of next hops that are not dead, of all kernel routes of kRouteProtocol.
size_t CountHops(sys::Netlink& netlink) {
  sys::NetlinkMessage query(RTM_GETROUTE, NLM_F_REQUEST | NLM_F_DUMP);
  query.AppendHeader(rtmsg{});
  size_t count = 0;
  netlink.socket().Query(query, "list routes", [&](const nlmsghdr* message) {
    auto* header = const_cast<nlmsghdr*>(message);
    const auto* route = static_cast<const rtmsg*>(NLMSG_DATA(message));
    if (message->nlmsg_type != RTM_NEWROUTE || route->rtm_protocol != kRouteProtocol) return;
    nlattr* multipath = nlmsg_find_attr(header, sizeof(rtmsg), RTA_MULTIPATH);
    if (multipath == nullptr) {
      ++count;
      return;
    }
    auto* hop = static_cast<rtnexthop*>(nla_data(multipath));
    for (int left = nla_len(multipath); RTNH_OK(hop, left);
         left -= RTNH_ALIGN(hop->rtnh_len), hop = RTNH_NEXT(hop)) {
      if ((hop->rtnh_flags & RTNH_F_DEAD) == 0) ++count;
    }
  });
  return count;
}

TEST_F(KernelRoutesTest, SeveralNextHopsComeAndGoOneByOne) {
  Run([](Place& place) {
    place.netlink.AddAddress(place.eth1, wire::IpPrefix::Parse("fd01::1/64"));
    const std::vector<Route> both{MakeMultipath("10.9.0.0/16", "10.0.0.2", "10.0.1.2"),
                                  MakeMultipath("fd00:9::/32", "fd00::2", "fd01::2")};
    const std::vector<Route> first{MakeRoute("10.9.0.0/16", "10.0.0.2"),
                                   MakeRoute("fd00:9::/32", "fd00::2")};
    RouteChanges changes;
    changes.added = both;
    place.routes.Apply(changes);
    EXPECT_EQ(CountHops(place.netlink), 4u);
    changes = {};
    changes.replaced = first;
    place.routes.Apply(changes);
    EXPECT_EQ(CountHops(place.netlink), 2u);
    changes.replaced = both;
    place.routes.Apply(changes);
    EXPECT_EQ(CountHops(place.netlink), 4u);
    changes = {};
    changes.removed = both;
    place.routes.Apply(changes);
    EXPECT_EQ(CountHops(place.netlink), 0u);
  });
}

TEST_F(KernelRoutesTest, OfSeveralNextHopsThoseAreInstalledWhoseLinkIsUp) {
  Run([](Place& place) {
    place.netlink.SetUp(place.eth1, false);
    RouteChanges changes;
    changes.added = {MakeMultipath("10.9.0.0/16", "10.0.0.2", "10.0.1.2")};
    place.routes.Apply(changes);
    EXPECT_EQ(CountHops(place.netlink), 1u);
    place.netlink.SetUp(place.eth1, true);
    EXPECT_EQ(place.routes.Reinstall(), 0u);
    EXPECT_EQ(CountHops(place.netlink), 2u);
    place.netlink.SetUp(place.eth0, false);
    EXPECT_EQ(CountHops(place.netlink), 1u);
    std::swap(changes.added, changes.removed);
    place.routes.Apply(changes);
    EXPECT_EQ(CountHops(place.netlink), 0u);
  });
}

TEST_F(KernelRoutesTest, RoutesReturnAfterALinkWasDown) {
  Run([](Place& place) {
    RouteChanges changes;
    changes.added = {MakeRoute("10.9.1.0/24", "10.0.0.2"),
                     MakeRoute("10.9.2.0/24", "10.0.1.2", "eth1")};
    place.routes.Apply(changes);
    place.netlink.SetUp(place.eth0, false);
    EXPECT_EQ(place.Ours(), 1u);
    EXPECT_EQ(place.routes.Reinstall(), 1u);  // not installed: the interface is still down
    changes = {};
    // This route is installed only when eth0's link is up.
    changes.added = {MakeRoute("10.9.3.0/24", "10.0.0.2")};
    // This route moves from eth1 to eth0, whose link is down.
    changes.replaced = {MakeRoute("10.9.2.0/24", "10.0.0.2")};
    place.routes.Apply(changes);
    EXPECT_EQ(place.Ours(), 0u);
    place.netlink.SetUp(place.eth0, true);
    EXPECT_EQ(place.routes.Reinstall(), 0u);
    EXPECT_EQ(place.Ours(), 3u);
  });
}

}  // namespace
}  // namespace viaduct::fib
