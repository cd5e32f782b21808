#include "scenario/links.h"

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

TEST(LinksTest, AnInterfaceIsAllThatANodeNeeds) {
  EXPECT_EQ(LinkErrorOf("{pair: [n0, n1]}, {interface: eno1, node: r, addresses: [192.0.2.1/24]}"),
            "");
}

TEST(LinksTest, WhatAnInterfaceCannotHaveIsNamed) {
  const std::string nic = "{line: all}, {interface: eno1, node: r, addresses: [192.0.2.1/24]";
  EXPECT_EQ(LinkErrorOf(nic + "}"), "");
  EXPECT_THAT(LinkErrorOf(nic + ", spec: loss=1%}"),
              HasSubstr("links[1].spec: not for an interface"));
  EXPECT_THAT(LinkErrorOf(nic + ", emulator: kernel}"), HasSubstr("links[1].emulator: not for"));
  EXPECT_THAT(LinkErrorOf(nic + "}", "simulate"),
              HasSubstr("interface eno1: not in mode simulate"));
  EXPECT_THAT(LinkErrorOf("{line: all}, {interface: eno1, node: r}"), HasSubstr("addresses"));
  EXPECT_THAT(LinkErrorOf("{line: all}, {interface: eno1, addresses: [192.0.2.1/24]}"),
              HasSubstr("node"));
  EXPECT_THAT(LinkErrorOf("{line: all, node: r}"), HasSubstr("only for interface, not line"));
  EXPECT_THAT(LinkErrorOf(nic + "}, {interface: eno1, node: n0, addresses: [192.0.3.1/24]}"),
              HasSubstr("interface 'eno1' is given twice"));
  EXPECT_THAT(LinkErrorOf("{line: all}, {interface: eno2, node: r, addresses: [192.0.2.1/24]}"),
              HasSubstr("'eno2' is given twice"));
  EXPECT_THAT(LinkErrorOf("{line: all}, {interface: a/b, node: r, addresses: [192.0.2.1/24]}"),
              HasSubstr("'a/b' is not the name of an interface"));
}

}  // namespace
}  // namespace viaduct::scenario
