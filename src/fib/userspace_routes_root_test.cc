// The table of the data plane in userspace, beside a real kernel's. Needs root.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <functional>

#include "fib/test_route.h"
#include "fib/userspace_routes.h"
#include "forward/table_reader.h"
#include "sys/network/netns.h"

namespace viaduct::fib {
namespace {

using forward::Found;
using forward::Kind;

// eth0 has 10.0.0.1/24 and fd00::1/64, eth1 10.0.1.1/24; each is wired to a peer.
struct RouterPlace {
  RouterPlace() {
    for (const std::string side : {"0", "1"}) {
      sys::VethEnd end, peer;
      end.name = "eth" + side;
      peer.name = "peer" + side;
      netlink.CreateVethPair(end, peer);
      netlink.SetUp(netlink.IfIndex(end.name), true);
      netlink.SetUp(netlink.IfIndex(peer.name), true);
    }
    Add("eth0", "10.0.0.1/24");
    Add("eth0", "fd00::1/64");
    Add("eth1", "10.0.1.1/24");
    place.namespace_fd = fd.get();
    place.interfaces = place.ports = {"eth0", "eth1"};
  }
  void Add(const std::string& interface, const std::string& address) {
    netlink.AddAddress(netlink.IfIndex(interface), wire::IpPrefix::Parse(address));
  }

  UniqueFd fd = sys::OpenCurrentNamespace();
  sys::Netlink netlink;
  NodePlace place;
};

// The routes of a router, and what a forwarder reads of them.
struct Both {
  explicit Both(const NodePlace& place)
      : routes(place),
        mapping(routes.Shared().value().table, forward::Mapping::Access::kRead),
        reader(mapping.words()) {}
  Found Lookup(const std::string& address) const {
    return reader.Lookup(wire::IpAddress::Parse(address));
  }
  void Apply(std::vector<Route> added, std::vector<Route> removed = {}) {
    routes.Apply({.replaced = {}, .added = std::move(added), .removed = std::move(removed)});
  }

  UserspaceRoutes routes;
  forward::Mapping mapping;
  forward::TableReader reader;
};

class UserspaceRoutesTest : public testing::Test {
 protected:
  static void Run(const std::function<void(RouterPlace&)>& test) {
    if (geteuid() != 0) GTEST_SKIP() << "needs root (network namespaces)";
    sys::InScratchNamespace([&] {
      RouterPlace router;
      test(router);
    });
  }
};

TEST_F(UserspaceRoutesTest, HasWhatTheKernelKnows) {
  Run([](RouterPlace& router) {
    const Both both(router.place);
    for (const char* own : {"10.0.0.1", "10.0.1.1", "10.0.0.255", "fd00::1"}) {
      EXPECT_EQ(both.Lookup(own).kind, Kind::kLocal) << own;
    }
    const auto eth0 = static_cast<uint32_t>(router.netlink.IfIndex("eth0"));
    for (const char* connected : {"10.0.0.9", "fd00::9"}) {
      EXPECT_EQ(both.Lookup(connected), (Found{Kind::kForward, {eth0, std::nullopt}})) << connected;
    }
    EXPECT_EQ(both.Lookup("10.9.0.1").kind, Kind::kNone);
    EXPECT_EQ(both.Lookup("fd00:9::1").kind, Kind::kNone);
  });
}

TEST_F(UserspaceRoutesTest, FollowsTheRoutesThatAreAppliedAndAccepted) {
  Run([](RouterPlace& router) {
    Both both(router.place);
    const Route far = test::MakeRoute("10.9.0.0/16", "10.0.1.2", 0, "eth1");
    const Route far_ipv6 = test::MakeRoute("fd00:9::/48", "fd00::2");
    both.Apply({far, far_ipv6});
    EXPECT_EQ(both.Lookup("10.9.0.1").hop.gateway, wire::IpAddress::Parse("10.0.1.2"));
    EXPECT_EQ(both.Lookup("fd00:9::1").hop.gateway, wire::IpAddress::Parse("fd00::2"));
    EXPECT_THROW(both.Apply({test::MakeRoute("10.8.0.0/16", "10.0.1.2", 0, "none")}), RouteError);
    EXPECT_EQ(both.Lookup("10.8.0.1").kind, Kind::kNone);
    both.Apply({}, {far, far_ipv6});
    EXPECT_EQ(both.Lookup("10.9.0.1").kind, Kind::kNone);
    EXPECT_EQ(both.Lookup("fd00:9::1").kind, Kind::kNone);
  });
}

TEST_F(UserspaceRoutesTest, TheLowestMetricWinsAndConnectedNetworksStay) {
  Run([](RouterPlace& router) {
    Both both(router.place);
    const Route near = test::MakeRoute("10.9.0.0/16", "10.0.0.2", 1);
    both.Apply({near, test::MakeRoute("10.9.0.0/16", "10.0.1.2", 2, "eth1"),
                test::MakeRoute("10.0.0.0/24", "", 5, "eth1")});
    EXPECT_EQ(both.Lookup("10.9.0.1").hop.gateway, wire::IpAddress::Parse("10.0.0.2"));
    EXPECT_EQ(both.Lookup("10.0.0.9").hop.ifindex,
              static_cast<uint32_t>(router.netlink.IfIndex("eth0")));
    both.Apply({}, {near});
    EXPECT_EQ(both.Lookup("10.9.0.1").hop.gateway, wire::IpAddress::Parse("10.0.1.2"));
  });
}

TEST_F(UserspaceRoutesTest, FollowsInterfacesAndAddresses) {
  Run([](RouterPlace& router) {
    Both both(router.place);
    both.Apply({test::MakeRoute("10.9.0.0/16", "10.0.1.2", 0, "eth1")});
    const int eth1 = router.netlink.IfIndex("eth1");
    router.netlink.SetUp(eth1, false);
    both.routes.Reinstall();
    EXPECT_EQ(both.Lookup("10.9.0.1").kind, Kind::kNone);
    EXPECT_EQ(both.Lookup("10.0.1.9").kind, Kind::kNone);
    router.netlink.SetUp(eth1, true);
    router.Add("eth1", "10.0.2.1/24");
    both.routes.Reinstall();
    EXPECT_EQ(both.Lookup("10.9.0.1").kind, Kind::kForward);
    EXPECT_EQ(both.Lookup("10.0.1.9").kind, Kind::kForward);
    EXPECT_EQ(both.Lookup("10.0.2.1").kind, Kind::kLocal);
  });
}

TEST_F(UserspaceRoutesTest, LeavesAFamilyThatIsNotForwardedToTheKernel) {
  Run([](RouterPlace& router) {
    router.place.forwards_ipv6 = false;
    const Both both(router.place);
    EXPECT_EQ(both.Lookup("fd00::9").kind, Kind::kLocal);
    EXPECT_EQ(both.Lookup("fd00:9::1").kind, Kind::kLocal);
    EXPECT_EQ(both.Lookup("10.0.0.9").kind, Kind::kForward);
  });
}

TEST_F(UserspaceRoutesTest, ANodeThatForwardsNothingNeedsNoForwarder) {
  Run([](RouterPlace& router) {
    router.place.forwards_ipv4 = router.place.forwards_ipv6 = false;
    const UserspaceRoutes routes(router.place);
    EXPECT_FALSE(routes.Shared());
    EXPECT_TRUE(routes.PacketCounters().empty());
  });
}

TEST_F(UserspaceRoutesTest, NobodyElseMayWriteTheTable) {
  Run([](RouterPlace& router) {
    const UserspaceRoutes routes(router.place);
    const int table = routes.Shared().value().table;
    EXPECT_THROW(forward::Mapping(table, forward::Mapping::Access::kWrite), SystemError);
    EXPECT_NE(ftruncate(table, 0), 0);
  });
}

}  // namespace
}  // namespace viaduct::fib
