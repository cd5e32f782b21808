#include "scenario/links.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace viaduct::scenario {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kNodes = "nodes: {count: 2, r: {interfaces: [eno2]}}\n";

std::string LinkErrorOf(const std::string& links, const std::string& mode = "offload") {
  try {
    Parse(kNodes + ("links: [" + links + "]\nmode: " + mode), "f.yaml");
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(LinksTest, AnInterfaceOfTheMachineIsALinkOfOneNode) {
  const Scenario s = Parse(std::string(kNodes) +
                               "links: [{line: all}, {interface: eno1, node: r, mtu: 9000,\n"
                               "  addresses: [192.0.2.1/24, fd00::1/64]},\n"
                               "  {interface: eno1.7, node: r, addresses: [198.51.100.1/24]}]\n"
                               "captures: [eno1]\nevents: [{at: 1s, link: eno1, state: down}]",
                           "f.yaml");
  ASSERT_EQ(s.links.size(), 4u);
  const LinkSettings& link = s.links[2];
  EXPECT_EQ(link.interface, "eno1");
  EXPECT_EQ(link.name, "eno1");
  EXPECT_THAT(link.nodes, ElementsAre("r"));
  EXPECT_EQ(link.mtu, 9000);
  EXPECT_EQ(link.addresses.size(), 2u);
  EXPECT_EQ(s.links[3].name, "eno1-7");
  EXPECT_EQ(Parse(Print(s), "f.yaml").hash, s.hash);
}

TEST(LinksTest, ClassesHaveSpecsOfTheirOwn) {
  const Scenario s =
      Parse(std::string(kNodes) +
                "links: [{line: all, spec: delay=1ms, classes: [\n"
                "  {name: dns, filter: udp port 53, spec: 'loss=list:2,4'},\n"
                "  {name: web, filter: tcp, spec: loss=1%, down: delay=9ms}]},\n"
                "  {shared: [n0, r], classes: [{name: a, filter: arp, spec: dup=1%}]}]",
            "f.yaml");
  ASSERT_EQ(s.links.size(), 3u);
  const auto spec = [](const char* text) { return path::ParseSpec(text); };
  for (const size_t pair : {0, 1}) {
    EXPECT_THAT(ClassesOf(s.links[pair]),
                ElementsAre(path::TrafficClass{"dns", "udp port 53", spec("loss=list:2,4"),
                                               spec("loss=list:2,4")},
                            path::TrafficClass{"web", "tcp", spec("loss=1%"), spec("delay=9ms")}));
  }
  EXPECT_THAT(ClassesOf(s.links[2]),
              ElementsAre(path::TrafficClass{"a", "arp", spec("dup=1%"), path::Spec()}));
  EXPECT_EQ(Parse(Print(s), "f.yaml").hash, s.hash);
}

TEST(LinksTest, WrongClassesAreNamed) {
  const auto error = [](const std::string& link) {
    return LinkErrorOf("{line: all, " + link + "}");
  };
  EXPECT_THAT(error("classes: [{name: a}]"), HasSubstr("filter"));
  EXPECT_THAT(error("classes: [{filter: udp}]"), HasSubstr("name"));
  EXPECT_THAT(error("classes: [{name: a, filter: udp}, {name: a, filter: tcp}]"),
              HasSubstr("links[0].classes[1].name: two classes have the name 'a'"));
  EXPECT_THAT(error("classes: [{name: a, filter: upd port 53}]"),
              HasSubstr("links[0].classes[0].filter: packet filter \"upd port 53\""));
  EXPECT_THAT(error("classes: [{name: a, filter: udp, spec: loss=2}]"),
              HasSubstr("links[0].classes[0].spec: SPEC: loss"));
  EXPECT_THAT(error("classes: [{name: a, filter: udp, spec: loss=2%, up: dup=1%, down: dup=1%}]"),
              HasSubstr("links[0].classes[0].spec: no effect"));
  EXPECT_THAT(LinkErrorOf("{shared: all, classes: [{name: a, filter: udp, up: loss=2%}]}"),
              HasSubstr("links[0].classes[0].up: a shared link has no directions"));
  EXPECT_THAT(LinkErrorOf("{line: all}, {interface: eno1, node: r, addresses: [192.0.2.1/24], "
                          "classes: [{name: a, filter: udp}]}"),
              HasSubstr("links[1].classes: not supported for an interface"));
}

TEST(LinksTest, AnInterfaceIsAllThatANodeNeeds) {
  EXPECT_EQ(LinkErrorOf("{pair: [n0, n1]}, {interface: eno1, node: r, addresses: [192.0.2.1/24]}"),
            "");
}

TEST(LinksTest, WhatAnInterfaceCannotHaveIsNamed) {
  const std::string nic = "{line: all}, {interface: eno1, node: r, addresses: [192.0.2.1/24]";
  EXPECT_EQ(LinkErrorOf(nic + "}"), "");
  EXPECT_THAT(LinkErrorOf(nic + ", spec: loss=1%}"),
              HasSubstr("links[1].spec: not supported for an interface"));
  EXPECT_THAT(LinkErrorOf(nic + ", emulator: kernel}"),
              HasSubstr("links[1].emulator: not supported for"));
  EXPECT_THAT(LinkErrorOf(nic + "}", "simulate"),
              HasSubstr("interface eno1: not supported in mode simulate"));
  EXPECT_THAT(LinkErrorOf("{line: all}, {interface: eno1, node: r}"), HasSubstr("addresses"));
  EXPECT_THAT(LinkErrorOf("{line: all}, {interface: eno1, addresses: [192.0.2.1/24]}"),
              HasSubstr("node"));
  EXPECT_THAT(LinkErrorOf("{line: all, node: r}"),
              HasSubstr("only with the key interface, not with line"));
  EXPECT_THAT(LinkErrorOf(nic + "}, {interface: eno1, node: n0, addresses: [192.0.3.1/24]}"),
              HasSubstr("interface 'eno1' is given twice"));
  EXPECT_THAT(LinkErrorOf("{line: all}, {interface: eno2, node: r, addresses: [192.0.2.1/24]}"),
              HasSubstr("'eno2' is given twice"));
  EXPECT_THAT(LinkErrorOf("{line: all}, {interface: a/b, node: r, addresses: [192.0.2.1/24]}"),
              HasSubstr("'a/b' is not a valid interface name"));
}

constexpr const char* kBridged =
    "nodes: {a: {host: true}, b: {host: true}, count: 2}\nrouting: {protocol: wmrp}\n"
    "mode: simulate\n";

std::vector<std::string> AddressTexts(const LinkSettings& link) {
  std::vector<std::string> texts;
  for (const wire::IpPrefix& address : link.addresses) {
    texts.push_back(address == kNoAddress ? "none" : address.ToString());
  }
  return texts;
}

TEST(LinksTest, HostsOfRBridgesAreOnOneNetwork) {
  const Scenario s = Parse(kBridged + std::string("links: [{line: all}, {pair: [a, n0]}, "
                                                  "{shared: [n1, b]}]\n"
                                                  "addressing: {ipv6: fd00::/48}\n"),
                           "f.yaml");
  EXPECT_EQ(s.routing.protocol, "ns3::RBridge");
  EXPECT_THAT(AddressTexts(s.links[0]), ElementsAre("none", "none", "none", "none"));
  EXPECT_THAT(AddressTexts(s.links[1]), ElementsAre("10.0.0.1/24", "none", "fd00::1/64", "none"));
  EXPECT_THAT(AddressTexts(s.links[2]), ElementsAre("none", "10.0.0.2/24", "none", "fd00::2/64"));
  EXPECT_EQ(Parse(Print(s), "f.yaml").hash, s.hash);
}

TEST(LinksTest, AddressesOfHostsOfRBridgesMayBeGiven) {
  const auto parse = [](const std::string& links) {
    return Parse(kBridged + ("links: [{line: all}, " + links + "]"), "f.yaml");
  };
  const Scenario s = parse("{pair: [a, n0], addresses: [192.0.2.1/24, none]}, {pair: [n1, b]}");
  EXPECT_THAT(AddressTexts(s.links[1]), ElementsAre("192.0.2.1/24", "none"));
  EXPECT_THAT(AddressTexts(s.links[2]), ElementsAre("none", "10.0.0.1/24"));
  const auto error = [&](const std::string& links) -> std::string {
    try {
      parse(links);
    } catch (const UsageError& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_THAT(error("{pair: [a, n0], addresses: [192.0.2.1/24, 192.0.2.2/24]}, {pair: [n1, b]}"),
              HasSubstr("'n0' is an RBridge, which has no address; write none"));
  EXPECT_THAT(error("{pair: [a, n0], addresses: [none, none]}, {pair: [n1, b]}"),
              HasSubstr("the host 'a' needs an address"));
  EXPECT_THAT(error("{pair: [a, n0], addresses: [192.0.2.1/24, none]}, "
                    "{pair: [n1, b], addresses: [none, 192.0.2.1/24]}"),
              HasSubstr("192.0.2.1/24 is given twice"));
}

TEST(LinksTest, WhatRBridgesCannotHaveIsNamed) {
  const auto error = [](const std::string& rest,
                        const std::vector<std::string>& overrides = {}) -> std::string {
    try {
      Parse(kBridged + ("links: [{line: all}, {pair: [a, n0]}, {pair: [b, n1]}]\n" + rest),
            "f.yaml", overrides);
    } catch (const UsageError& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(error("flows: [{type: ping, from: a, to: b}]\n"), "");
  EXPECT_THAT(error("flows: [{type: ping, from: a, to: n1}]\n"),
              HasSubstr("flows[0].to: 'n1' is an RBridge"));
  EXPECT_THAT(error("flows: [{type: ping, from: n0, to: a}]\n"),
              HasSubstr("flows[0].from: 'n0' is an RBridge"));
  EXPECT_EQ(error("", {"mode=offload"}), "");
  EXPECT_EQ(error("data_plane: userspace\n", {"mode=offload"}), "");
  EXPECT_EQ(error("data_plane: auto\n", {"mode=offload"}), "");
  EXPECT_THAT(error("", {"nodes.a.gateway=n0"}), HasSubstr("one network; remove the key gateway"));
  for (const char* plane : {"kernel", "joined"}) {
    EXPECT_THAT(error(fmt::format("data_plane: {}\n", plane), {"mode=offload"}),
                HasSubstr("n0 is an RBridge, which forwards frames; use userspace, ebpf or auto"));
  }
  for (const char* plane : {"userspace", "ebpf", "auto"}) {
    EXPECT_THAT(error(fmt::format("data_plane: {}\n", plane), {"mode=traditional"}),
                HasSubstr("remove data_plane, or use mode emulate or offload"));
    EXPECT_EQ(error(fmt::format("data_plane: {}\n", plane), {"mode=emulate"}), "");
  }
  EXPECT_EQ(error("data_plane: simulator\n", {"mode=traditional"}), "");
  EXPECT_EQ(error("", {"links.0.mtu=65497"}), "") << "with what RBridges add the longest";
  EXPECT_THAT(
      error("", {"links.0.mtu=65498"}),
      HasSubstr("links[0].mtu: 65498 is more than the maximum of 65497, because an RBridge makes"
                " frames up to 24"));
}

TEST(LinksTest, HostsThatNoRBridgeServesAreNamed) {
  const auto error = [](const std::string& nodes, const std::string& links) -> std::string {
    try {
      Parse("routing: {protocol: WMRP}\n" + nodes + links, "f.yaml");
    } catch (const UsageError& e) {
      return e.what();
    }
    return "";
  };
  const std::string hosts = "nodes:\n  a: {host: true}\n  b: {host: true}\n";
  EXPECT_THAT(error(hosts, "links: [{pair: [a, b]}]\n"),
              HasSubstr("f.yaml:3: nodes.a: this host shares no link with an RBridge"));
  EXPECT_THAT(error(hosts + "  c: {host: true}\n  n: {}\n",
                    "links: [{pair: [a, b]}, {pair: [b, n]}, {pair: [c, n]}]\n"),
              HasSubstr("f.yaml:3: nodes.a: this host shares no link with an RBridge"))
      << "though there is one";
  EXPECT_EQ(error(hosts + "  n: {}\n", "links: [{pair: [a, n]}, {pair: [b, n]}]\n"), "");
}

}  // namespace
}  // namespace viaduct::scenario
