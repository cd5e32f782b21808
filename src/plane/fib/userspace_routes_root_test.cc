// Tests of the forwarding table of the data plane in userspace against a real kernel's routes.
// Needs root.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <functional>
#include <memory>
#include <random>

#include "plane/fib/route_mirror.h"
#include "plane/fib/test_route.h"
#include "plane/fib/test_router_place.h"
#include "plane/fib/userspace_routes.h"
#include "plane/forward/table_reader.h"
#include "sys/network/netns.h"
#include "sys/network/route_lookup.h"
#include "sys/network/route_request.h"
#include "sys/network/tun.h"

namespace viaduct::fib {
namespace {

using forward::Found;
using forward::Kind;
using test::RouterPlace;

// The routes of a router, and a forwarder's reader of them.
struct Both {
  explicit Both(const NodePlace& place, size_t table_words = UserspaceRoutes::kTableWords)
      : routes(place, table_words),
        mapping(routes.Shared().value().table, forward::Mapping::Access::kRead),
        reader(mapping.words()) {}
  Found Lookup(const std::string& address) const {
    return reader.Lookup(wire::IpAddress::Parse(address));
  }
  // Applies the kernel's changes until the table's entry of the address has the kind kLocal. The
  // kernel creates the route of an own IPv6 address in a work queue, some time after the address
  // was added.
  bool AwaitLocal(const std::string& address) {
    for (pollfd changed{routes.EventFd(), POLLIN, 0}; Lookup(address).kind != Kind::kLocal;) {
      if (poll(&changed, 1, 10000) <= 0) return false;
      routes.TakeEvents();
    }
    return true;
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
    Both both(router.place);
    for (const char* own : {"10.0.0.1", "10.0.1.1", "fd00::1"}) {
      EXPECT_TRUE(both.AwaitLocal(own)) << own;
    }
    EXPECT_EQ(both.Lookup("10.0.0.255").kind, Kind::kBroadcast);
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

// Changes a route as `ip route` would.
void ChangeForeign(RouterPlace& router, sys::RouteAction action, const std::string& destination,
                   const std::string& gateway) {
  auto request = sys::RouteRequest(action, {.destination = wire::IpPrefix::Parse(destination),
                                            .hops = {{wire::IpAddress::Parse(gateway)}},
                                            .is_on_link = false});
  router.netlink.socket().Request(request, "change a route");
}

// Returns whether the routes' event descriptor reports a change by other programs.
bool IsReadable(const UserspaceRoutes& routes) {
  pollfd wait{routes.EventFd(), POLLIN, 0};
  return poll(&wait, 1, 0) == 1;
}

TEST_F(UserspaceRoutesTest, FollowsTheRoutesOfOthers) {
  Run([](RouterPlace& router) {
    Both both(router.place);
    const auto change = [&](sys::RouteAction action) {
      ChangeForeign(router, action, "10.7.0.0/16", "10.0.1.2");
      ChangeForeign(router, action, "fd00:7::/48", "fd00::2");
    };
    change(sys::RouteAction::kCreate);
    ASSERT_TRUE(IsReadable(both.routes));
    both.routes.TakeEvents();
    EXPECT_FALSE(IsReadable(both.routes));
    EXPECT_EQ(both.Lookup("10.7.0.1").hop.gateway, wire::IpAddress::Parse("10.0.1.2"));
    EXPECT_EQ(both.Lookup("fd00:7::1").hop.gateway, wire::IpAddress::Parse("fd00::2"));
    change(sys::RouteAction::kDelete);
    router.Add("eth1", "10.0.2.1/24");
    both.routes.TakeEvents();
    EXPECT_EQ(both.Lookup("10.7.0.1").kind, Kind::kNone);
    EXPECT_EQ(both.Lookup("fd00:7::1").kind, Kind::kNone);
    EXPECT_EQ(both.Lookup("10.0.2.1").kind, Kind::kLocal);
  });
}

TEST_F(UserspaceRoutesTest, ReadsOnceAfterMoreChangesThanCanBeTold) {
  Run([](RouterPlace& router) {
    Both both(router.place);
    for (int i = 0; i < 5000; ++i) {
      const std::string host = std::to_string(i / 256) + "." + std::to_string(i % 256);
      ChangeForeign(router, sys::RouteAction::kCreate, "10.9." + host + "/32", "10.0.0.2");
    }
    both.routes.TakeEvents();
    EXPECT_FALSE(IsReadable(both.routes));
    EXPECT_EQ(both.Lookup("10.9.19.135").kind, Kind::kForward);
  });
}

TEST_F(UserspaceRoutesTest, DoesNotHearOfTheRoutesItWrites) {
  Run([](RouterPlace& router) {
    Both both(router.place);
    both.routes.TakeEvents();
    const Route route = test::MakeRoute("10.9.0.0/16", "10.0.1.2", 0, "eth1");
    both.Apply({route, test::MakeRoute("fd00:9::/48", "fd00::2")}, {});
    both.Apply({}, {route});
    EXPECT_FALSE(IsReadable(both.routes));
  });
}

// The route to the TUN device is a default route with the lowest priority, as in lab/upcalls.h.
TEST_F(UserspaceRoutesTest, WhatHasNoOtherRouteGoesUp) {
  Run([](RouterPlace& router) {
    Both both(router.place);
    UniqueFd device = sys::OpenTun(router.place.namespace_fd, "upcall0");
    const int upcall0 = router.netlink.IfIndex("upcall0");
    router.netlink.SetUp(upcall0, true);
    for (const char* everything : {"0.0.0.0/0", "::/0"}) {
      router.netlink.AddRoute(wire::IpPrefix::Parse(everything), std::nullopt, upcall0, UINT32_MAX);
    }
    both.routes.SetUpcallDevice(upcall0);
    const Found up{Kind::kUp, {static_cast<uint32_t>(upcall0), std::nullopt}};
    for (const char* far : {"10.9.0.1", "fd00:9::1"}) EXPECT_EQ(both.Lookup(far), up) << far;
    EXPECT_EQ(both.Lookup("10.0.0.9").kind, Kind::kForward);
    const auto passage = both.routes.LookUp(wire::IpAddress::Parse("10.9.0.1"));
    ASSERT_TRUE(passage);
    ASSERT_EQ(passage->hops.size(), 1U);
    EXPECT_EQ(passage->hops[0].ifindex, upcall0);
    const Route route = test::MakeRoute("10.9.0.1/32", "10.0.1.2", 0, "eth1");
    both.Apply({route});
    EXPECT_EQ(both.Lookup("10.9.0.1").kind, Kind::kForward);
    both.Apply({}, {route});
    EXPECT_EQ(both.Lookup("10.9.0.1"), up);
    device.reset();  // the device is removed, as when the simulator exits
    for (pollfd changed{both.routes.EventFd(), POLLIN, 0}; both.Lookup("10.9.0.1") == up;) {
      ASSERT_EQ(poll(&changed, 1, 10000), 1);
      both.routes.TakeEvents();
    }
    EXPECT_EQ(both.Lookup("10.9.0.1").kind, Kind::kNone);
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

Route Preferred(Route route) {
  route.table = Table::kPreferred;
  return route;
}

TEST_F(UserspaceRoutesTest, ThePreferredTableHidesConnectedNetworksWhileItsRoutesLead) {
  Run([](RouterPlace& router) {
    Both both(router.place);
    const auto eth1 = static_cast<uint32_t>(router.netlink.IfIndex("eth1"));
    both.Apply({Preferred(test::MakeRoute("0.0.0.0/0", "10.0.1.2", 0, "eth1")),
                Preferred(test::MakeRoute("::/0", "fd00:5::2", 0, "eth1")),
                test::MakeRoute("10.9.0.0/16", "10.0.0.2")});
    for (const char* hidden : {"10.0.0.9", "10.9.0.1", "10.77.0.1", "fd00::9"}) {
      EXPECT_EQ(both.Lookup(hidden).hop.ifindex, eth1) << hidden;
    }
    EXPECT_EQ(both.Lookup("10.0.0.1").kind, Kind::kLocal);
    router.netlink.SetUp(static_cast<int>(eth1), false);
    both.routes.Reinstall();
    EXPECT_EQ(both.Lookup("10.9.0.1").hop.gateway, wire::IpAddress::Parse("10.0.0.2"));
    router.netlink.SetUp(static_cast<int>(eth1), true);
    both.routes.Reinstall();
    EXPECT_EQ(both.Lookup("10.9.0.1").hop.ifindex, eth1);
    both.Apply({}, {Preferred(test::MakeRoute("0.0.0.0/0", "10.0.1.2", 0, "eth1"))});
    EXPECT_EQ(both.Lookup("10.9.0.1").hop.gateway, wire::IpAddress::Parse("10.0.0.2"));
  });
}

// Returns a random address of a small part of a family's address space, so that routes often match.
wire::IpAddress RandomAddress(wire::Family family, std::mt19937& random) {
  wire::IpAddress address =
      wire::IpAddress::Parse(family == wire::Family::kIpv4 ? "10.0.0.0" : "fd00::");
  const size_t second = family == wire::Family::kIpv4 ? 1 : 3;
  address.bytes[second] = static_cast<uint8_t>(random() % 4);
  address.bytes[second + 1] = static_cast<uint8_t>(random() % 4);
  address.bytes[static_cast<size_t>(address.Length()) - 1] = static_cast<uint8_t>(3 + random() % 9);
  return address;
}

Route RandomRoute(wire::Family family, std::mt19937& random) {
  const std::vector<int> lengths = family == wire::Family::kIpv4
                                       ? std::vector<int>{0, 8, 16, 22, 24, 32}
                                       : std::vector<int>{0, 16, 32, 38, 40, 64, 128};
  const wire::IpPrefix network =
      wire::IpPrefix{RandomAddress(family, random), lengths[random() % lengths.size()]}.Network();
  const int side = static_cast<int>(random() % 2);
  const std::string gateway = family == wire::Family::kIpv4
                                  ? "10.0." + std::to_string(side) + ".2"
                                  : "fd00:" + std::to_string(side) + "::2";
  Route route = test::MakeRoute(network.ToString(), gateway, static_cast<uint32_t>(random() % 2),
                                "eth" + std::to_string(side));
  if (random() % 3 == 0) route.table = Table::kPreferred;
  return route;
}

TEST_F(UserspaceRoutesTest, DecidesAsTheKernelDoesWithTablesAtRandom) {
  Run([](RouterPlace& router) {
    router.Add("eth1", "fd00:1::1/64");
    std::mt19937 random(7);
    Both both(router.place);
    RouteMirror mirror(std::shared_ptr<RouteSink>(&both.routes, [](RouteSink*) {}));
    for (int round = 0; round < 60; ++round) {
      RouteTable table;
      for (size_t i = random() % 12; i > 0; --i) {
        for (const wire::Family family : {wire::Family::kIpv4, wire::Family::kIpv6}) {
          const Route route = RandomRoute(family, random);
          table[KeyOf(route)] = route;
        }
      }
      // The mirror may refuse changes: the kernel has one route of metric 0 to a connected network,
      // which is not replaced.
      mirror.Update(table);
      for (int i = 0; i < 60; ++i) {
        const auto family = i % 2 == 0 ? wire::Family::kIpv4 : wire::Family::kIpv6;
        const wire::IpAddress to = RandomAddress(family, random);
        const auto kernel = sys::FindSimpleRoute(router.netlink, to, 0);
        const Found found = both.reader.Lookup(to);
        ASSERT_EQ(found.kind == Kind::kForward, kernel.has_value()) << to.ToString();
        if (!kernel) continue;
        EXPECT_EQ(static_cast<int>(found.hop.ifindex), kernel->ifindex) << to.ToString();
        EXPECT_EQ(found.hop.gateway.value_or(to), kernel->next_hop) << to.ToString();
      }
    }
  });
}

// Returns `count` host routes, of which the first is to 10.100.0.0/32; a small table has space for
// only some of them.
std::vector<Route> ManyRoutes(size_t count) {
  std::vector<Route> routes;
  for (size_t i = 0; i < count; ++i) {
    const auto address = wire::IpAddress::FromIpv4(0x0a640000 + static_cast<uint32_t>(i) * 1024);
    routes.push_back(test::MakeRoute(address.ToString() + "/32", "10.0.1.2", 0, "eth1"));
  }
  return routes;
}

constexpr size_t kSmallTable = size_t{1} << 16;  // size of the table in words

// Applies the routes; returns those that the full table refuses.
std::vector<Route> RefusedOf(Both& both, const std::vector<Route>& routes) {
  std::vector<Route> refused;
  try {
    both.Apply(routes);
  } catch (const RouteError& error) {
    for (const RefusedRoute& each : error.refused()) {
      EXPECT_EQ(each.reason, "the forwarding table is full");
      refused.push_back(each.route);
    }
  }
  return refused;
}

TEST_F(UserspaceRoutesTest, RefusesWhatHasNoRoomAndTakesItWhenThereIs) {
  Run([](RouterPlace& router) {
    Both both(router.place, kSmallTable);
    const std::vector<Route> many = ManyRoutes(6000);
    const std::vector<Route> refused = RefusedOf(both, many);
    ASSERT_FALSE(refused.empty());
    ASSERT_LT(refused.size(), many.size());
    EXPECT_EQ(both.routes.Size(), many.size() - refused.size()) << "the kernel has the others only";
    EXPECT_EQ(both.Lookup(refused.front().destination.address.ToString()).kind, Kind::kNone);
    const auto accepted = static_cast<ptrdiff_t>(both.routes.Size());
    both.Apply({}, {many.begin(), many.begin() + accepted * 9 / 10});
    both.Apply({refused.front()});
    EXPECT_EQ(both.Lookup(refused.front().destination.address.ToString()).kind, Kind::kForward);
  });
}

TEST_F(UserspaceRoutesTest, ReportsWhatOfTheKernelHasNoRoomUntilItHas) {
  Run([](RouterPlace& router) {
    Both both(router.place, kSmallTable);
    const std::vector<Route> many = ManyRoutes(6000);
    ASSERT_FALSE(RefusedOf(both, many).empty());
    router.Add("eth1", "10.55.1.1/24");
    EXPECT_GT(both.routes.Reinstall(), 0u);
    EXPECT_FALSE(RefusedOf(both, {test::MakeRoute("10.66.0.0/16", "10.0.1.2", 0, "eth1")}).empty());
    try {
      both.Apply({}, many);
    } catch (const RouteError&) {  // removals of routes that were refused before are refused
    }
    EXPECT_EQ(both.routes.Reinstall(), 0u);
    EXPECT_EQ(both.Lookup("10.55.1.1").kind, Kind::kLocal);
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
