#include "scenario/static_routes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "scenario/addresses.h"

namespace viaduct::scenario {
namespace {

using testing::IsEmpty, testing::SizeIs;

constexpr const char* kStatic = "routing: {protocol: static}\n";
constexpr const char* kIpv6 = "addressing: {ipv4: none, ipv6: fd00::/48}\n";

// Follows the static routes of a scenario as packets do.
class Walker {
 public:
  explicit Walker(const std::string& text)
      : scenario_(Parse(kStatic + text, "f.yaml")), routes_(StaticRoutes(scenario_)) {}

  const std::vector<StaticRoute>& routes() const { return routes_; }
  size_t nodes() const { return scenario_.nodes.size(); }

  // Returns the number of links on the path from a node to the address of another node; -1 if no
  // route leads to it or the routes loop.
  int Length(size_t from, size_t to) const {
    const wire::IpAddress destination = AddressOf(scenario_, scenario_.nodes[to].name);
    int length = 0;
    for (size_t at = from; at != to; ++length) {
      const std::optional<size_t> next = Next(at, to, destination);
      if (!next || length > static_cast<int>(nodes())) return -1;
      at = *next;
    }
    return length;
  }

  // Returns the lengths of the paths between all pairs of nodes; a length is -1 if there is no
  // path.
  std::vector<int> Lengths() const {
    std::vector<int> lengths;
    for (size_t from = 0; from < nodes(); ++from) {
      for (size_t to = 0; to < nodes(); ++to) {
        if (from != to) lengths.push_back(Length(from, to));
      }
    }
    return lengths;
  }

 private:
  std::optional<size_t> NodeWith(const LinkSettings& link, const wire::IpAddress& address) const {
    for (size_t i = 0; i < link.addresses.size(); ++i) {
      if (link.addresses[i].address != address) continue;
      const std::string& name = link.nodes[i % link.nodes.size()];
      const auto node = std::ranges::find(scenario_.nodes, name, &NodeSettings::name);
      return static_cast<size_t>(node - scenario_.nodes.begin());
    }
    return std::nullopt;
  }

  // Returns the next node of a packet that is at node `at` and is for the address `destination` of
  // node `to`.
  std::optional<size_t> Next(size_t at, size_t to, const wire::IpAddress& destination) const {
    const std::string& name = scenario_.nodes[at].name;
    for (const LinkSettings& link : scenario_.links) {
      if (std::ranges::count(link.nodes, name) > 0 && NodeWith(link, destination)) return to;
    }
    for (const StaticRoute& route : routes_) {
      if (route.node == at && route.network.Contains(destination)) {
        return NodeWith(scenario_.links[route.link], route.next_hop);
      }
    }
    return std::nullopt;
  }

  Scenario scenario_;
  std::vector<StaticRoute> routes_;
};

struct Shape {
  const char* text;
  size_t longest;  // maximum length of the shortest paths
};

class StaticRoutesTest : public testing::TestWithParam<Shape> {};

TEST_P(StaticRoutesTest, ReachEveryNodeOverTheFewestLinks) {
  for (const std::string& addressing : {std::string(), std::string(kIpv6)}) {
    const Walker walker(addressing + GetParam().text);
    const std::vector<int> lengths = walker.Lengths();
    EXPECT_EQ(std::ranges::count(lengths, -1), 0) << addressing;
    // The path leads to the node's address for traffic, which may belong to a link behind the node,
    // as seen from the sender.
    EXPECT_LE(*std::ranges::max_element(lengths), static_cast<int>(GetParam().longest));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, StaticRoutesTest,
    testing::Values(
        Shape{"nodes: 2\nlinks: [{line: all}]\n", 1}, Shape{"nodes: 5\nlinks: [{line: all}]\n", 4},
        Shape{"nodes: 9\nlinks: [{grid: {columns: 3, rows: 3}}]\n", 5},
        Shape{"nodes: 6\nlinks: [{ring: all}, {pair: [n0, n3]}, {pair: [n1, n4]}]\n", 3},
        Shape{"nodes: 3\nlinks: [{pair: [n0, n1]}, {pair: [n0, n1], name: second},\n"
              "        {pair: [n1, n2]}, {pair: [n1, n2], name: fourth}]\n",
              2},
        Shape{"nodes: 5\nlinks: [{shared: [n0, n1, n2]}, {shared: [n2, n3, n4], name: b}]\n", 2}));

TEST(StaticRoutesTest, HaveBothFamiliesWhereLinksHaveBoth) {
  const Walker walker("addressing: {ipv6: fd00::/48}\nnodes: 3\nlinks: [{line: all}]\n");
  ASSERT_THAT(walker.routes(), SizeIs(4));
  EXPECT_EQ(walker.routes()[0].network.address.family, wire::Family::kIpv4);
  EXPECT_EQ(walker.routes()[3].network.address.family, wire::Family::kIpv6);
}

TEST(StaticRoutesTest, NeverLeadThroughAHost) {
  const Walker walker(
      "nodes: {a: {}, h: {host: true, gateway: a}, b: {}}\n"
      "links: [{pair: [a, h]}, {pair: [h, b]}]\n");
  EXPECT_THAT(walker.routes(), IsEmpty());
}

TEST(StaticRoutesTest, LeadToNodesOwnAddressesToo) {
  const Walker walker("addressing: {loopback: 10.255.0.0/24}\nnodes: 3\nlinks: [{line: all}]\n");
  // Counts 2 routes to links that are not adjacent, and from each node 2 to loopback addresses.
  ASSERT_THAT(walker.routes(), SizeIs(8));
  const auto of_n0_to_n2 = std::ranges::find_if(walker.routes(), [](const StaticRoute& route) {
    return route.node == 0 && route.network.ToString() == "10.255.0.3/32";
  });
  ASSERT_NE(of_n0_to_n2, walker.routes().end());
  EXPECT_EQ(of_n0_to_n2->next_hop.ToString(), "10.0.0.2");
}

TEST(StaticRoutesTest, OfUnconnectedPartsReachTheirOwn) {
  const Walker walker("nodes: 6\nlinks: [{line: [n0, n1, n2]}, {line: [n3, n4, n5]}]\n");
  EXPECT_EQ(walker.Length(0, 2), 2);
  EXPECT_EQ(walker.Length(0, 5), -1);
}

}  // namespace
}  // namespace viaduct::scenario
