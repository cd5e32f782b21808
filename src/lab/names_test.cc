#include "lab/names.h"

#include <gtest/gtest.h>

namespace viaduct::lab {
namespace {

Interface With(const std::string& name, std::initializer_list<const char*> addresses) {
  Interface interface;
  interface.name = name;
  for (const char* text : addresses) interface.addresses.push_back(wire::IpPrefix::Parse(text));
  return interface;
}

TEST(NamesTest, ANameStandsForTheFirstAddressOfEachFamily) {
  Topology topology;
  topology.nodes.emplace_back().name = "a";
  topology.nodes[0].interfaces = {With("eth0", {"10.0.0.1/30", "fe80::1/64", "fd00::1/64"}),
                                  With("eth1", {"10.0.0.5/30"})};
  topology.nodes.emplace_back().name = "b";
  topology.nodes[1].interfaces = {With("eth0", {"10.0.0.2/30"})};
  topology.nodes[1].loopback = {wire::IpPrefix::Parse("10.255.0.2/32")};
  topology.nodes.emplace_back().name = "bare";
  topology.others = {{"c", {wire::IpAddress::Parse("10.255.0.3")}}};
  EXPECT_EQ(HostsFile(topology),
            "127.0.0.1 localhost\n::1 localhost\n"
            "10.0.0.1 a a.eth0\n"
            "fd00::1 a a.eth0\n"
            "10.0.0.5 a.eth1\n"
            "10.255.0.2 b\n"
            "10.0.0.2 b.eth0\n"
            "10.255.0.3 c\n");
}

TEST(NamesTest, SurviveTheTopologysJson) {
  Topology topology;
  topology.name = "x";
  topology.nodes.emplace_back().name = "a";
  topology.nodes[0].loopback = {wire::IpPrefix::Parse("fd00::9/128")};
  topology.others = {{"c", {wire::IpAddress::Parse("10.255.0.3")}}};
  EXPECT_EQ(HostsFile(nlohmann::json(topology).get<Topology>()), HostsFile(topology));
}

}  // namespace
}  // namespace viaduct::lab
