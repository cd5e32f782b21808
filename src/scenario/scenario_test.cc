#include "scenario/scenario.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "base/units.h"
#include "scenario/addresses.h"
#include "scenario/keys.h"
#include "scenario/protocols.h"

namespace viaduct::scenario {
namespace {

using testing::ElementsAre, testing::HasSubstr;

constexpr const char* kLine = "nodes: 5\nlinks: [{line: all}]\n";

std::string ErrorOf(const std::string& text, const std::vector<std::string>& overrides = {}) {
  try {
    Parse(text, "f.yaml", overrides);
  } catch (const UsageError& e) {
    return e.what();
  }
  return "no error";
}

std::vector<std::string> Addresses(const LinkSettings& link) {
  std::vector<std::string> texts;
  for (const wire::IpPrefix& address : link.addresses) texts.push_back(address.ToString());
  return texts;
}

std::vector<std::string> LinkNames(const Scenario& scenario) {
  std::vector<std::string> names;
  for (const LinkSettings& link : scenario.links) names.push_back(link.name);
  return names;
}

TEST(ScenarioTest, FillsInDefaults) {
  const Scenario s = Parse(kLine, "dir/my lab.yaml");
  EXPECT_EQ(s.name, "my-lab");
  EXPECT_EQ(s.seed, 1u);
  EXPECT_EQ(s.duration, Duration::Seconds(10));
  EXPECT_EQ(s.mode, Mode::kOffload);
  EXPECT_EQ(s.routing.protocol, "ns3::olsr::RoutingProtocol");
  EXPECT_EQ(s.convergence_timeout, Duration::Seconds(60));
  EXPECT_TRUE(s.convergence_required);
  EXPECT_FALSE(s.lateness_limit);
  ASSERT_EQ(s.nodes.size(), 5u);
  EXPECT_EQ(s.nodes[4].name, "n4");
  EXPECT_THAT(LinkNames(s), ElementsAre("n0-n1", "n1-n2", "n2-n3", "n3-n4"));
  EXPECT_THAT(Addresses(s.links[1]), ElementsAre("10.0.0.5/30", "10.0.0.6/30"));
  EXPECT_TRUE(s.links[1].spec.IsPlainWire());
}

TEST(ScenarioTest, ReadsNodesInEveryForm) {
  const Scenario list = Parse("nodes: [a, b]\nlinks: [{pair: [a, b]}]", "f.yaml");
  EXPECT_EQ(list.nodes[1].name, "b");
  const Scenario map = Parse(
      "nodes:\n  count: 2\n  n1: {sysctls: {net.ipv4.tcp_ecn: 1}}\n"
      "  pc: {host: true}\n  srv: {host: true, gateway: n1}\n"
      "links: [{line: all}, {pair: [pc, n0]}, {shared: [srv, n1]}]",
      "f.yaml");
  ASSERT_EQ(map.nodes.size(), 4u);
  EXPECT_EQ(map.nodes[1].sysctls.at("net.ipv4.tcp_ecn"), "1");
  EXPECT_TRUE(map.nodes[2].host);
  EXPECT_EQ(map.nodes[2].gateway, "n0");
  EXPECT_EQ(map.nodes[3].gateway, "n1");
  EXPECT_THAT(LinkNames(map), ElementsAre("n0-n1", "pc-n0", "lan0"));
}

TEST(ScenarioTest, AFlowGoesToTheAddressThatIsChosen) {
  const auto address = [](const std::string& chosen) {
    const Scenario scenario = Parse(
        "nodes: 3\nlinks: [{line: all}]\naddressing: {ipv6: fd00::/48}\n"
        "flows: [{from: n0, to: n1" +
            (chosen.empty() ? "" : ", address: " + chosen) + "}]",
        "f.yaml");
    return AddressOf(scenario, scenario.flows[0]).ToString();
  };
  EXPECT_EQ(address(""), "10.0.0.2");
  EXPECT_EQ(address("ipv4"), "10.0.0.2");
  EXPECT_EQ(address("ipv6"), "fd00::2");
  EXPECT_EQ(address("n1-n2"), "10.0.0.5");
  EXPECT_EQ(address("n1-n2/ipv6"), "fd00:0:0:1::1");
  EXPECT_EQ(address("10.0.0.5"), "10.0.0.5");
  EXPECT_EQ(address("'fd00:0:0:1::1'"), "fd00:0:0:1::1");
}

TEST(ScenarioTest, NodesHaveAddressesOfTheirOwn) {
  const std::string text =
      "nodes: {n0: {}, n1: {loopback: 10.255.0.9 fd00:255::9}, h: {host: true}}\n"
      "links: [{line: [n0, n1]}, {pair: [n1, h]}]\n"
      "routing: {protocol: static}\n"
      "addressing: {ipv6: \"fd00::/48\", loopback: \"10.255.0.0/24 fd00:255::/64\"}\n"
      "flows: [{from: n0, to: n1}, {from: n1, to: n0, address: ipv6}, {from: n0, to: h},\n"
      "        {from: n0, to: n1, address: n0-n1}]\n"
      "programs: [{node: n0, command: \"x {n1} {h}\"}]\n";
  const Scenario scenario = Parse(text, "a.yaml");
  EXPECT_EQ(scenario.nodes[0].loopback[0].ToString(), "10.255.0.1/32");
  EXPECT_EQ(scenario.nodes[0].loopback[1].ToString(), "fd00:255::1/128");
  EXPECT_EQ(scenario.nodes[1].loopback[0].ToString(), "10.255.0.9/32");
  EXPECT_TRUE(scenario.nodes[2].loopback.empty());
  EXPECT_EQ(AddressOf(scenario, scenario.flows[0]).ToString(), "10.255.0.9");
  EXPECT_EQ(AddressOf(scenario, scenario.flows[1]).ToString(), "fd00:255::1");
  EXPECT_EQ(SourceOf(scenario, scenario.flows[1])->ToString(), "fd00:255::9");
  EXPECT_EQ(AddressOf(scenario, scenario.flows[3]).ToString(), "10.0.0.2");
  EXPECT_EQ(scenario.programs[0].command[1], "10.255.0.9");
  EXPECT_EQ(scenario.programs[0].command[2], AddressOf(scenario, "h").ToString());
  const Scenario again = Parse(Print(scenario), "b.yaml");
  EXPECT_EQ(again.hash, scenario.hash);
  EXPECT_EQ(again.nodes[1].loopback, scenario.nodes[1].loopback);
}

TEST(ScenarioTest, BuildsEveryShape) {
  const Scenario ring = Parse("nodes: 3\nlinks: [{ring: all}]", "f.yaml");
  EXPECT_THAT(LinkNames(ring), ElementsAre("n0-n1", "n1-n2", "n2-n0"));
  const Scenario grid = Parse("nodes: 6\nlinks: [{grid: {columns: 3, rows: 2}}]", "f.yaml");
  EXPECT_THAT(LinkNames(grid),
              ElementsAre("n0-n1", "n0-n3", "n1-n2", "n1-n4", "n2-n5", "n3-n4", "n4-n5"));
  const Scenario star = Parse("nodes: 3\nlinks: [{star: {center: n1}}]", "f.yaml");
  EXPECT_THAT(LinkNames(star), ElementsAre("n1-n0", "n1-n2"));
  const Scenario twice = Parse("nodes: 2\nlinks: [{line: all}, {pair: [n0, n1]}]", "f.yaml");
  EXPECT_THAT(LinkNames(twice), ElementsAre("n0-n1", "n0-n1-2"));
}

TEST(ScenarioTest, SharedLinksGetSubnetsThatFit) {
  const Scenario s = Parse(
      "nodes: 300\naddressing: {ipv4: 192.168.0.0/16, ipv6: 2001:db8::/48}\n"
      "links: [{pair: [n0, n1]}, {shared: [n0, n1]}, {shared: all}]",
      "f.yaml");
  EXPECT_EQ(Addresses(s.links[0])[1], "192.168.0.2/30");
  EXPECT_THAT(Addresses(s.links[1]), ElementsAre("192.168.1.1/24", "192.168.1.2/24",
                                                 "2001:db8:0:1::1/64", "2001:db8:0:1::2/64"));
  EXPECT_EQ(Addresses(s.links[2])[299], "192.168.3.44/23");
}

TEST(ScenarioTest, AutomaticSubnetsAvoidGivenOnes) {
  const Scenario s = Parse(
      "nodes: 3\nlinks: [{pair: [n0, n1]}, {pair: [n1, n2], addresses: [10.0.0.1/24, "
      "10.0.0.9/24]}]",
      "f.yaml");
  EXPECT_THAT(Addresses(s.links[0]), ElementsAre("10.0.1.1/30", "10.0.1.2/30"));
  EXPECT_THAT(Addresses(s.links[1]), ElementsAre("10.0.0.1/24", "10.0.0.9/24"));
}

TEST(ScenarioTest, ReadsTrafficAndPrograms) {
  const Scenario s = Parse(std::string(kLine) +
                               "traffic:\n"
                               "  - {from: n0, to: n4, rate: 2Mbit, start: 1s, duration: 3s}\n"
                               "  - {type: ping, from: n4, to: n0, interval: 10ms}\n"
                               "  - {type: tcp, from: n0, to: n4}\n"
                               "  - {type: tcp, from: n0, to: n4}\n"
                               "programs:\n"
                               "  - {node: n0, command: \"curl -H 'A: b c' http://{n4}/\"}\n"
                               "events: [{at: 3s, link: n1-n2, state: up}, "
                               "{at: 2s, link: n1-n2, state: down}]\n"
                               "captures: all\n",
                           "f.yaml");
  ASSERT_EQ(s.flows.size(), 4u);
  EXPECT_EQ(s.flows[0].name, "udp n0->n4");
  EXPECT_EQ(s.flows[0].rate, 2000000);
  EXPECT_EQ(s.flows[0].duration, Duration::Seconds(3));
  EXPECT_EQ(s.flows[1].kind, Flow::Kind::kPing);
  EXPECT_EQ(s.flows[1].duration, Duration::Seconds(10));
  EXPECT_EQ(s.flows[3].name, "tcp n0->n4 #2");
  EXPECT_THAT(s.programs[0].command, ElementsAre("curl", "-H", "A: b c", "http://10.0.0.14/"));
  EXPECT_FALSE(s.link_events[0].on) << "sorted by time";
  EXPECT_EQ(s.captures.size(), 4u);
}

TEST(ScenarioTest, TimesMayBePartsOfTheRun) {
  const std::string text = std::string(kLine) +
                           "flows:\n  - {from: n0, to: n4, start: 20%, duration: 40%}\n"
                           "  - {type: tcp, from: n0, to: n4, start: 60%, duration: 40%}\n";
  const Scenario s = Parse(text, "f.yaml");
  EXPECT_EQ(s.flows[0].start, Duration::Seconds(2));
  EXPECT_EQ(s.flows[0].duration, Duration::Seconds(4));
  const Scenario shorter = Parse(text, "f.yaml", {"duration=3s"});
  EXPECT_EQ(shorter.flows[0].start, Duration::Milliseconds(600));
  EXPECT_EQ(shorter.flows[1].duration, Duration::Seconds(1)) << "TCP: whole seconds";
  EXPECT_THAT(ErrorOf(text, {"flows.0.start=100%"}), HasSubstr("is not before the run's end"));
  EXPECT_THAT(ErrorOf(text, {"flows.0.start=2.5%"}), HasSubstr("flows[0].start: "));
}

TEST(ScenarioTest, FlowsAskForWhatTheirProgramsCanDo) {
  const std::string text = std::string(kLine) +
                           "duration: 30h\nflows:\n  - {type: ping, from: n0, to: n4}\n"
                           "  - {type: tcp, from: n0, to: n4, duration: 24h}\n";
  const Scenario s = Parse(text, "f.yaml");
  EXPECT_EQ(PingsOf(s.flows[0]), 30u * 3600 * 10);
  EXPECT_EQ(s.flows[1].duration, Duration::Seconds(86400));
  EXPECT_THAT(ErrorOf(text, {"flows.1.duration=86401s"}), HasSubstr("at most one day"));
  EXPECT_THAT(ErrorOf(text, {"flows.0.interval=99us"}),
              HasSubstr("the shortest interval is 100us"));
  Flow flow;
  for (const auto& [interval, pings] : {std::pair(300, 4u), {500, 2u}, {1000, 1u}, {2000, 1u}}) {
    flow.duration = Duration::Seconds(1);
    flow.interval = Duration::Milliseconds(interval);
    EXPECT_EQ(PingsOf(flow), pings) << interval;
  }
}

TEST(ScenarioTest, OverridesValues) {
  const std::string text = std::string(kLine) + "flows: [{from: n0, to: n4}]\n";
  const Scenario s = Parse(
      text, "f.yaml", {"mode=simulate", "flows[0].size=1000", "links.0.spec=delay=1ms", "seed=9"});
  EXPECT_EQ(s.mode, Mode::kSimulate);
  EXPECT_EQ(s.flows[0].size, 1000);
  EXPECT_EQ(s.links[0].spec.delay.base, Duration::Milliseconds(1));
  EXPECT_EQ(s.seed, 9u);
  EXPECT_EQ(ErrorOf(text, {"flows.1.size=9"}),
            "--set flows.1.size=9: '1' is not a valid index of a list of 1 items");
  EXPECT_EQ(ErrorOf(text, {"duration=soon"}).rfind("--set duration=soon: duration: ", 0), 0u);
  EXPECT_THAT(ErrorOf(text, {"mode"}), HasSubstr("write KEY=VALUE"));
}

// A plausible mistake in a file, and the place that the error message must name.
struct Mistake {
  const char* text;
  const char* message;
};

class MistakeTest : public testing::TestWithParam<Mistake> {};

TEST_P(MistakeTest, IsNamedWithItsLine) {
  EXPECT_THAT(ErrorOf(GetParam().text), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    All, MistakeTest,
    testing::Values(
        Mistake{"nodes: 2\nlinks:\n  - line: all\n    specs: delay=1ms\n",
                "f.yaml:4: unknown key 'specs' in links[0]; did you mean 'spec'? known keys: "},
        Mistake{"nodes: 300\nlinks: [{line: all}]\naddressing:\n  loopback: 10.255.0.0/24\n",
                "f.yaml:4: addressing.loopback: 10.255.0.0/24 has no free address for node n255"},
        Mistake{"nodes: 2\nlinks: [{pair: all, addresses: [10.255.0.1/24, 10.255.0.2/24]}]\n"
                "addressing:\n  loopback: 10.255.0.0/16\n",
                "f.yaml:4: loopback: 10.255.0.1 is in the network of link n0-n1"},
        Mistake{"nodes: 2\nlinks: [{line: all}]\nrouting: {protocol: AODV}\naddressing:\n"
                "  loopback: 10.255.0.0/16\n",
                "f.yaml:5: loopback: not supported with AODV, which announces only one"},
        Mistake{"nodes: 2\nlinks: [{line: all}]\naddressing:\n  loopback: fd00:255::/64\n",
                "f.yaml:4: loopback: OLSR cannot announce fd00:255::1"},
        Mistake{"nodes: {a: {loopback: 10.9.0.1/24}, b: }\nlinks: [{line: all}]\n",
                "f.yaml:1: nodes.a.loopback: '10.9.0.1/24' is not a valid address of a node"},
        Mistake{"nodes: 2\nlinks: [{line: all}]\nkernel_memory: 256\nmode: simulate\n",
                "f.yaml:3: kernel_memory: no node has a kernel in virtual time"},
        Mistake{"nodes: 2\nlinks: [{line: all}]\nrouting:\n  sample: 1ms\n",
                "f.yaml:4: routing.sample: too short; the shortest interval is 100ms"},
        Mistake{"nods: 2\n", "f.yaml:1: unknown key 'nods'; did you mean 'nodes'?"},
        Mistake{"nodes: 2\nlinks: [{line: all}]\nduration: 10\n", "f.yaml:3: duration: "},
        Mistake{"nodes: 2\nlinks: [{line: all}]\nduration: [1s]\n",
                "f.yaml:3: duration: a list where a duration such as 10s or 200ms is expected"},
        Mistake{"nodes: 2\nlinks: [{line: all}]\nmode: fast\n",
                "f.yaml:3: mode: 'fast' is not one of simulate, traditional, emulate, offload"},
        Mistake{"nodes: 2\nnodes: 3\n", "f.yaml:2: key 'nodes' is given twice"},
        Mistake{"routing: {protocol: ns3::olsr::RoutingProtocol}\n"
                "addressing: {ipv4: none, ipv6: fd00::/48}\nnodes: 2\nlinks: [{line: all}]\n",
                "f.yaml:1: routing.protocol: ns3::olsr::RoutingProtocol routes IPv4, but node 'n0' "
                "has no address"},
        Mistake{"addressing: {ipv4: none, ipv6: fd00::/48}\nnodes: 2\nlinks: [{line: all}]\n",
                "routing.protocol: ns3::olsr::RoutingProtocol routes IPv4"},
        Mistake{"nodes: 3\nlinks:\n  - {pair: [n0, n1]}\n"
                "  - {pair: [n1, n2], addresses: [fd00::1/64, fd00::2/64]}\n"
                "routing: {protocol: ns3::Rip}\n",
                "f.yaml:5: routing.protocol: ns3::Rip routes IPv4, but node 'n2' has no address"},
        Mistake{"nodes: 2\nlinks: [{line: all}]\nrouting: {protocol: ns3::RipNg}\n",
                "f.yaml:3: routing.protocol: ns3::RipNg routes IPv6, but node 'n0' has no address"},
        Mistake{"name: \"a\\e[31m\"\n", "f.yaml:1: a text contains the control character 0x1b"},
        Mistake{"nodes: 2\nlinks: [{line: all}]\nflows:\n  - {type: ping, from: n0, to: n1, name: "
                "\"a\\nb\"}\n",
                "f.yaml:4: flows: a name contains a line break or a tab"},
        Mistake{"nodes: 2\nlinks: [{line: all}]\nprograms:\n"
                "  - {node: n0, name: x y, command: ls}\n  - {node: n0, name: x_y, command: ls}\n",
                "f.yaml:5: programs: the output of 'x y' and of 'x_y' would go to the same file, "
                "x_y.txt; rename one of these programs"},
        Mistake{"name: a23456789a123456789b123456789c123\n", "- and _; at most 32 characters)"},
        Mistake{"name: a123456789b123456789c123456789d123456789e123456789f123456789g12345678\n",
                "- and _; at most 32 characters)"},
        Mistake{"nodes: [a, a]\n", "f.yaml:1: nodes: 'a' is given twice"},
        Mistake{"nodes: [a, fabric]\n", "f.yaml:1: nodes: 'fabric' is reserved for the lab"},
        Mistake{"nodes: [a, b c]\n", "f.yaml:1: nodes: 'b c' is not a valid name"},
        Mistake{"links: []\n", "f.yaml:1: nodes: missing"},
        Mistake{"nodes: 2\nlinks: [{line: all]\n", "f.yaml:2: malformed YAML"},
        Mistake{"nodes: 3\nlinks:\n  - {pair: [n0, n1]}\n", "nodes: 'n2' is on no link"},
        Mistake{"nodes: 2\nlinks:\n  - pair: [n0, n1]\n  - pair: [n0, nl]\n",
                "f.yaml:4: links[1].pair: there is no node 'nl'; did you mean 'n0'?"},
        Mistake{"nodes: 2\nlinks:\n  - pair: [n0]\n",
                "f.yaml:3: links[0].pair: 1 nodes are listed"},
        Mistake{"nodes: 2\nlinks:\n  - {line: all, ring: all}\n", "already has the key line"},
        Mistake{"nodes: 2\nlinks:\n  - spec: delay=1ms\n", "f.yaml:3: links[0] needs one of pair"},
        Mistake{"nodes: 2\nlinks:\n  - {line: all, spec: delay=1}\n", "f.yaml:3: links[0].spec: "},
        Mistake{"nodes: 2\nlinks:\n  - {line: all, mtu: 9}\n", "f.yaml:3: links[0].mtu: "},
        Mistake{"nodes: 2\nlinks:\n  - {line: all, name: x}\n",
                "only for pair, shared, wifi and interface"},
        Mistake{"nodes: 2\nlinks:\n  - {pair: [n0, n1], name: x}\n  - {pair: [n0, n1], name: x}\n",
                "f.yaml:4: links[1].name: two links have the name 'x'"},
        Mistake{"nodes: 5\nlinks:\n  - grid: {columns: 2, rows: 2}\n",
                "2 columns x 2 rows do not match 5 nodes"},
        Mistake{"nodes: 2\nlinks:\n  - {pair: [n0, n1], addresses: [10.0.0.1/24]}\n",
                "1 addresses for 2 nodes"},
        Mistake{"nodes: 2\nlinks:\n  - {pair: [n0, n1], addresses: [10.0.0.1/24, 10.0.1.1/24]}\n",
                "are in different subnets"},
        Mistake{"nodes: 2\nlinks:\n  - {pair: [n0, n1], addresses: [10.0.0.1, 10.0.0.2]}\n",
                "needs a prefix length"},
        Mistake{"nodes: 2\nlinks:\n  - {pair: [n0, n1], addresses: [10.0.0.1/24, 10.0.0.2/24]}\n"
                "  - {pair: [n0, n1], addresses: [10.0.0.65/26, 10.0.0.66/26]}\n",
                "f.yaml:4: link 'n0-n1-2': subnet 10.0.0.64/26 overlaps with 10.0.0.0/24"},
        Mistake{"nodes: 3\nlinks: [{line: all}]\naddressing: {ipv4: 10.0.0.0/30}\n",
                "f.yaml:3: addressing.ipv4: addressing: 10.0.0.0/30 has no space"},
        Mistake{"nodes: 3\nlinks: [{line: all}]\naddressing: {ipv4: 10.0.0.1/8}\n",
                "write 10.0.0.0/8"},
        Mistake{"nodes: 3\nlinks: [{line: all}]\naddressing: {ipv4: none}\n", "has no addresses"},
        Mistake{"nodes:\n  count: 2\n  h:\n    host: true\n    gateway: n1\n"
                "links: [{line: all}, {pair: [h, n0]}]\n",
                "f.yaml:5: nodes.h.gateway: 'n1' shares no link with 'h'"},
        Mistake{"nodes:\n  count: 2\n  h: {host: true}\n"
                "links: [{line: all}, {pair: [h, n0]}, {pair: [h, n1]}]\n",
                "f.yaml:3: nodes.h.gateway: missing; the key may be omitted only if the host has "
                "exactly one neighbour, but this host has 2"},
        Mistake{"nodes: 2\nlinks: [{line: all}]\nflows:\n  - {from: n0, to: n0}\n",
                "f.yaml:4: flows[0].to: the receiver is the same node as the sender"},
        Mistake{"nodes: 2\nlinks: [{line: all}]\nflows:\n  - {from: n0, to: n1, address: ipv6}\n",
                "f.yaml:4: flows[0].address: 'ipv6': node 'n1' has no such address"},
        Mistake{
            "nodes: 2\nlinks: [{line: all}]\nflows:\n  - {from: n0, to: n1, address: n0-n1/v6}\n",
            "expected ipv4 or ipv6 after the slash"},
        Mistake{
            "nodes: 2\nlinks: [{line: all}]\nflows:\n  - {from: n0, to: n1, address: 10.0.0.1}\n",
            "node 'n1' has no such address"},
        Mistake{"nodes: 2\nlinks: [{line: all}]\nflows:\n  - {from: n0}\n", "flows[0] needs to"},
        Mistake{"nodes: 2\nlinks: [{line: all}]\nflows:\n  - {from: n0, to: n1, duration: 11s}\n",
                "f.yaml:4: flows[0].duration: the end would be after the run's end"},
        Mistake{"nodes: 2\nlinks: [{line: all}]\nflows:\n  - {from: n0, to: n1, rate: fast}\n",
                "f.yaml:4: flows[0].rate: "},
        Mistake{"nodes: 2\nlinks: [{line: all}]\nprograms:\n  - {node: n0, command: a | b}\n",
                "f.yaml:4: programs[0].command: '|' in a command needs a shell"},
        Mistake{"nodes: 2\nlinks: [{line: all}]\nprograms:\n  - {node: n0, command: \"a 'b\"}\n",
                "unterminated"},
        Mistake{
            "nodes: 2\nlinks: [{line: all}]\nmode: simulate\nprograms:\n"
            "  - {node: n0, command: ls}\n",
            "f.yaml:5: programs[0].node: n0 has ns-3's own stack, which cannot run programs in"},
        Mistake{"nodes: {a: {stack: kernel}, b: }\nlinks: [{line: all}]\nmode: simulate\n"
                "programs: [{node: a, command: ls}, {node: b, command: ls}]\n",
                "f.yaml:4: programs[1].node: b has ns-3's own stack"},
        Mistake{"nodes: 2\nlinks: [{line: all}]\nmode: simulate\nstack: linux\n",
                "f.yaml:4: stack: 'linux' is not one of ns3, kernel, kernel:VERSION"},
        Mistake{"nodes: {a: {stack: 'kernel:'}, b: }\nlinks: [{line: all}]\n",
                "f.yaml:1: nodes.a.stack: 'kernel:' is not one of"},
        Mistake{"nodes: 2\nlinks: [{line: all}]\nstack: kernel:6.1\n",
                "f.yaml:3: stack: kernel:6.1 is supported only in mode simulate; in mode offload"},
        Mistake{
            "nodes: 2\nlinks: [{line: all}]\nstack: kernel\nmode: emulate\n",
            "f.yaml:3: stack: a kernel in virtual time is supported only in mode simulate; in mode "
            "emulate"},
        Mistake{
            "nodes: {a: {stack: kernel, data_plane: simulator}, b: }\nlinks: [{line: all}]\n",
            "f.yaml:1: stack: a kernel in virtual time is supported only in mode simulate; in mode "
            "offload"},
        Mistake{"nodes: 2\nlinks: [{line: all}]\nevents:\n  - {at: 1s, link: n0-n2, state: up}\n",
                "f.yaml:4: events[0].link: there is no link 'n0-n2'; did you mean 'n0-n1'?"},
        Mistake{"nodes: 2\nlinks: [{line: all}]\ncaptures: [n0]\n", "captures: there is no link"},
        Mistake{"a: &a [*a]\n", "f.yaml:1: "},
        Mistake{"- 1\n", "the file is a list; it must be a map"},
        Mistake{"nodes: 2\n---\nnodes: 2\n", "more than one YAML document"},
        Mistake{",", "no value can start here"}, Mistake{"nodes: 2\n,", "malformed YAML"},
        Mistake{"nodes: \xff\n", "f.yaml:1: not plain UTF-8 text (byte 0xff)"}));

TEST(ScenarioTest, PrintReadsBackUnchanged) {
  const std::string text =
      "name: all-of-it\nseed: 12\nduration: 20s\nmode: emulate\n"
      "nodes: {count: 4, n1: {data_plane: kernel}, h: {host: true}, x: {interfaces: [enp3s0]}}\n"
      "links:\n  - {line: all, spec: delay=20ms loss=1%}\n"
      "  - {pair: [h, n0], up: rate=1Mbit, mtu: 9000}\n  - {shared: [n0, n1, n2], name: lan}\n"
      "addressing: {ipv4: 172.16.0.0/12, ipv6: 2001:db8::/32}\n"
      "routing: {protocol: ns3::Rip, attributes: {UnsolicitedRoutingUpdate: 5s}}\n"
      "flows:\n  - {from: n0, to: n3, rate: 1.5Mbit}\n  - {type: ping, from: h, to: n3}\n"
      "programs:\n  - {node: n2, command: 'sh -c \"sleep 1; echo ~ # x\"', timeout: 3s,"
      " environment: {A: 'null', B: '', C: '~', D: 'x: y'}}\n"
      "events: [{at: 1500us, link: lan, state: down}]\ncaptures: [lan]\n"
      "convergence: {timeout: 30s, required: false}\ntiming: {lateness_limit: 250us}\n";
  const Scenario s = Parse(text, "f.yaml");
  const Scenario again = Parse(Print(s), "other.yaml");
  EXPECT_EQ(Print(again), Print(s));
  EXPECT_EQ(again.hash, s.hash);
  EXPECT_EQ(again.programs[0].environment, s.programs[0].environment);
  EXPECT_EQ(again.nodes[1].data_plane, &fib::kKernelPlane);
  EXPECT_EQ(again.links.back().addresses, s.links.back().addresses);
}

TEST(ScenarioTest, ANodesStackOverridesTheFiles) {
  const Scenario s = Parse(
      "mode: simulate\nstack: kernel:6.12\n"
      "nodes: {count: 2, n1: {stack: ns3}, x: {stack: kernel}}\nlinks: [{line: all}]\n",
      "f.yaml");
  EXPECT_EQ(s.nodes[0].kernel, "6.12");
  EXPECT_EQ(s.nodes[1].kernel, std::nullopt);
  EXPECT_EQ(s.nodes[2].kernel, "");
  const Scenario again = Parse(Print(s), "f.yaml");
  EXPECT_EQ(again.hash, s.hash);
  EXPECT_EQ(again.nodes[0].kernel, "6.12");
  EXPECT_EQ(Parse("nodes: 2\nlinks: [{line: all}]\n", "f.yaml").nodes[0].kernel, std::nullopt);
}

TEST(ScenarioTest, StateIsOfNodesThatHaveAKernel) {
  const std::string text =
      "mode: simulate\nstack: kernel\nnodes: {count: 2, x: {stack: ns3}}\n"
      "links: [{line: all}]\n";
  const Scenario s = Parse(text + "state: {interval: 1ms}\n", "f.yaml");
  EXPECT_THAT(s.state, ElementsAre("n0", "n1"));
  EXPECT_EQ(s.state_interval, Duration::Milliseconds(1));
  const Scenario again = Parse(Print(s), "f.yaml");
  EXPECT_EQ(again.hash, s.hash);
  EXPECT_EQ(again.state, s.state);
  EXPECT_THAT(Parse(text + "state: {nodes: [n1]}\n", "f.yaml").state, ElementsAre("n1"));
  EXPECT_TRUE(Parse(text, "f.yaml").state.empty());
  EXPECT_THAT(ErrorOf(text + "state: {nodes: [x]}\n"), HasSubstr("the stack of node x is ns-3's"));
  EXPECT_THAT(ErrorOf(text + "state: {nodes: [y]}\n"), HasSubstr("there is no node 'y'"));
  EXPECT_THAT(ErrorOf(text + "state: {interval: 0s}\n"), HasSubstr("must be greater than 0"));
  EXPECT_THAT(ErrorOf("nodes: 2\nlinks: [{line: all}]\nmode: simulate\nstate: {}\n"),
              HasSubstr("f.yaml:4: state: no node has a kernel"));
}

TEST(ScenarioTest, ProgramsOnKernelNodesAreForSimulateAndOffload) {
  const std::string text =
      "stack: kernel\nnodes: 2\nlinks: [{line: all}]\nprograms: [{node: n0, command: ls}]\n";
  for (const char* mode : {"mode=simulate", "mode=offload"}) {
    EXPECT_EQ(Parse(text, "f.yaml", {mode}).programs.size(), 1U) << mode;
  }
}

TEST(ScenarioTest, ProtocolsHaveShortNamesInAnyLetterCase) {
  const std::string text = "nodes: 2\nlinks: [{line: all}]\nrouting: {protocol: ";
  const auto protocol = [&](const std::string& name) {
    return Parse(text + name + "}\n", "f.yaml").routing.protocol;
  };
  for (const char* name : {"AODV", "aodv", "Aodv", "\"ns3::aodv::RoutingProtocol\""}) {
    EXPECT_EQ(protocol(name), "ns3::aodv::RoutingProtocol") << name;
  }
  EXPECT_EQ(protocol("olsr"), "ns3::olsr::RoutingProtocol");
  EXPECT_EQ(protocol("rip"), "ns3::Rip");
  EXPECT_EQ(protocol("\"own::Protocol\""), "own::Protocol");
  for (const char* name : {"DSR", "dsr", "\"ns3::dsr::DsrRouting\""}) {
    EXPECT_THROW(protocol(name), UsageError) << name;
  }
  EXPECT_EQ(Parse(text + "olsr}\n", "f.yaml").hash,
            Parse(text + "\"ns3::olsr::RoutingProtocol\"}\n", "f.yaml").hash);
}

TEST(ScenarioTest, HostsNeedAProtocolThatAnnouncesNetworks) {
  const std::string text = "nodes: {r: , h: {host: true}}\nlinks: [{pair: [r, h]}]\n";
  EXPECT_THAT(ErrorOf(text + "routing: {protocol: AODV}\n"),
              HasSubstr("f.yaml:1: nodes.h.host: AODV announces nodes, not networks"));
  EXPECT_THAT(ErrorOf(text + "routing: {protocol: dsdv}\n"), HasSubstr("nodes.h.host: DSDV"));
  EXPECT_TRUE(Parse(text + "routing: {protocol: RIP}\n", "f.yaml").nodes[1].host);
}

TEST(ScenarioTest, RoutingByNoProtocolIsAWordInAnyLetterCase) {
  const std::string text = "nodes: 2\nlinks: [{line: all}]\nrouting: ";
  for (const char* none : {"none", "NONE", "None", "{protocol: NONE}"}) {
    EXPECT_EQ(Parse(text + none + "\n", "f.yaml").routing.protocol, kNoProtocol) << none;
  }
  EXPECT_EQ(Parse(text + "Static\n", "f.yaml").routing.protocol, "static");
  EXPECT_THAT(ErrorOf(text + "{protocol: NONE, attributes: {x: 1}}\n"),
              HasSubstr("protocol is none"));
  for (const char* empty : {"", "{protocol: }", "~"}) {
    EXPECT_THAT(ErrorOf(text + empty + "\n"), HasSubstr("f.yaml:3: routing: empty; set a protocol"))
        << empty;
  }
  EXPECT_THAT(ErrorOf("nodes: 2\nlinks: [{line: all}]\n", {"routing="}),
              HasSubstr("empty; set a protocol"));
}

TEST(ScenarioTest, InModeOffloadAKernelIsTheHostsAndNothingMore) {
  const std::string text = "nodes: {count: 2, n1: {sysctls: {a.b: 1}}}\nlinks: [{line: all}]\n";
  const Scenario scenario = Parse(text + "stack: kernel\n", "f.yaml");
  EXPECT_FALSE(scenario.nodes[0].kernel);
  EXPECT_EQ(Print(scenario), Print(Parse(text, "f.yaml")));
  EXPECT_EQ(Parse(text + "stack: kernel\n", "f.yaml", {"mode=simulate"}).nodes[0].kernel, "");
  EXPECT_THAT(ErrorOf(text + "stack: kernel\nstate: {}\n"),
              HasSubstr("state: the state of kernels is only available in mode simulate"));
}

TEST(ScenarioTest, KernelsGiveAReactiveProtocolWhatItNeedsInBothModes) {
  const std::string text =
      "nodes: 2\nlinks: [{line: all}]\nrouting: {protocol: AODV}\nstack: kernel\n";
  for (const char* mode : {"mode=simulate", "mode=offload"}) {
    EXPECT_EQ(Parse(text, "f.yaml", {mode}).nodes.size(), 2U) << mode;
  }
}

TEST(ScenarioTest, HashFollowsTheEffectiveScenarioOnly) {
  const std::string hash = Parse(kLine, "f.yaml").hash;
  EXPECT_EQ(hash.size(), 64u);
  EXPECT_EQ(Parse(std::string(kLine) + "name: f # the default\n", "f.yaml").hash, hash);
  EXPECT_NE(Parse(kLine, "f.yaml", {"seed=2"}).hash, hash);
}

}  // namespace
}  // namespace viaduct::scenario
