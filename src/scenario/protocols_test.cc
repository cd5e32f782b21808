#include "scenario/protocols.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "scenario/awaited.h"
#include "scenario/static_routes.h"

namespace viaduct::scenario {
namespace {

using testing::HasSubstr;

constexpr const char* kThreeNodes = "nodes: {count: 3}\nlinks: [{line: all}]\n";

Scenario WithThree(const std::string& more, const std::vector<std::string>& overrides = {}) {
  return Parse(kThreeNodes + more, "f.yaml", overrides);
}

std::string ErrorWithThree(const std::string& more,
                           const std::vector<std::string>& overrides = {}) {
  try {
    WithThree(more, overrides);
  } catch (const UsageError& e) {
    return e.what();
  }
  return "nothing is wrong";
}

std::vector<bool> Runs(const Scenario& scenario) {
  std::vector<bool> runs;
  for (const NodeSettings& node : scenario.nodes) runs.push_back(RunsProtocol(scenario, node));
  return runs;
}

TEST(NoProtocolTest, IsAWordOrAMapAndChangedByOverrides) {
  const std::string hash = WithThree("routing: none\n").hash;
  EXPECT_EQ(WithThree("routing: {protocol: none}\n").hash, hash);
  EXPECT_EQ(WithThree("", {"routing=none"}).hash, hash);
  EXPECT_EQ(WithThree("routing: RIP\n", {"routing.protocol=none"}).hash, hash);
  EXPECT_EQ(WithThree("routing: none\n", {"routing.protocol=OLSR"}).hash, WithThree("").hash);
}

TEST(NoProtocolTest, LeavesAllRoutesToPrograms) {
  const Scenario none = WithThree("routing: none\n");
  EXPECT_EQ(Runs(none), std::vector<bool>(3));
  EXPECT_TRUE(StaticRoutes(none).empty());
  EXPECT_EQ(none.nodes[0].data_plane, nullptr) << "that of the mode, offload";
  EXPECT_EQ(WithThree("routing: none\nmode: emulate\n").nodes[0].data_plane, &fib::kKernelPlane);
  EXPECT_EQ(WithThree("routing: none\nmode: emulate\ndata_plane: simulator\n").nodes[0].data_plane,
            &fib::kSimulatorPlane);
}

TEST(NoProtocolTest, MayBeOneNodes) {
  const std::string n2 = "nodes.n2={routing: none}";
  const Scenario rip = WithThree("routing: RIPng\naddressing: {ipv6: fd00::/48}\n", {n2});
  EXPECT_EQ(Runs(rip), (std::vector<bool>{true, true, false}));
  const Scenario emulated = WithThree("mode: emulate\n", {n2});
  EXPECT_EQ(emulated.nodes[1].data_plane, nullptr);
  EXPECT_EQ(emulated.nodes[2].data_plane, &fib::kKernelPlane);
  for (const StaticRoute& route : StaticRoutes(WithThree("routing: static\n", {n2}))) {
    EXPECT_NE(route.node, 2U);
  }
}

TEST(NoProtocolTest, IsNotWaitedForBeyondTheNodesOfPrograms) {
  const auto awaited = [](const std::string& links, const std::string& node) {
    const Scenario scenario =
        Parse("nodes: {a: , b: , c: , h: {host: true, gateway: c}}\n" + links, "f.yaml", {node});
    const AwaitedRoutes routes(scenario);
    std::string pairs;
    for (size_t from = 0; from < 4; ++from) {
      for (size_t to = from + 1; to < 4; ++to) {
        EXPECT_EQ(routes.IsAwaited(from, to), routes.IsAwaited(to, from));
        if (routes.IsAwaited(from, to)) pairs += {' ', "abch"[from], "abch"[to]};
      }
    }
    return pairs;
  };
  const std::string line = "links: [{line: [a, b, c, h]}]\n";
  EXPECT_EQ(awaited(line, "nodes.a={}"), " ab ac ah bc bh ch");
  EXPECT_EQ(awaited(line, "nodes.a={routing: none}"), " bc bh ch");
  EXPECT_EQ(awaited(line, "nodes.b={routing: none}"), " ch");
  EXPECT_EQ(awaited(line, "nodes.c={routing: none}"), " ab ch");
  EXPECT_EQ(awaited(line, "routing=none"), " ch");
  const std::string ring = "links: [{ring: [a, b, c]}, {pair: [c, h]}]\n";
  EXPECT_EQ(awaited(ring, "nodes.b={routing: none}"), " ac ah ch");
  // The run also waits for routes between nodes that no links connect, so that a missing link does
  // not go unnoticed.
  const std::string apart = "links: [{pair: [a, b]}, {pair: [c, h]}]\n";
  EXPECT_EQ(awaited(apart, "nodes.b={routing: none}"), " ac ah bc bh ch");
}

TEST(NoProtocolTest, FitsNotWithEverything) {
  EXPECT_THAT(ErrorWithThree("routing: {protocol: none, attributes: {A: 1}}\n"),
              HasSubstr("f.yaml:3: routing.attributes: not supported, because protocol is none"));
  EXPECT_THAT(ErrorWithThree("routing: {protocol: none, sample: 1s}\n"),
              HasSubstr("f.yaml:3: routing.sample: protocol is none"));
  EXPECT_THAT(ErrorWithThree("routing: [none]\n"), HasSubstr("a protocol, or a map"));
  EXPECT_THAT(ErrorWithThree("", {"nodes.n2={routing: OLSR}"}),
              HasSubstr("'OLSR' is not one of none"));
  EXPECT_THAT(ErrorWithThree("", {"nodes.n2={routing: none, host: true}"}),
              HasSubstr("a host runs no"));
  EXPECT_THAT(ErrorWithThree("", {"nodes.n2={routing: none, container: web}", "mode=offload"}),
              HasSubstr("a host runs no"));
  EXPECT_THAT(ErrorWithThree("routing: WMRP\n", {"nodes.n2={routing: none}"}),
              HasSubstr("an RBridge"));
  EXPECT_THAT(ErrorWithThree("hosts: {a: {address: 192.0.2.1}, b: {address: 192.0.2.2}}\n",
                             {"nodes.n2={routing: none}"}),
              HasSubstr("not supported with machines"));
}

TEST(NoProtocolTest, IsSuggested) { EXPECT_THAT(SuggestProtocol("nome"), HasSubstr("none")); }

}  // namespace
}  // namespace viaduct::scenario
