#include "scenario/aliases.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "scenario/keys.h"
#include "scenario/scenario.h"

namespace viaduct::scenario {
namespace {

using testing::HasSubstr;

constexpr char kCurrent[] =
    "mode: offload\nmachines: {h1: {address: 192.0.2.1}, h2: {address: 192.0.2.2}}\n"
    "nodes: {a: {on_machine: h1}, b: {on_machine: h2}}\nlinks: [{line: all}]\n"
    "flows: [{from: a, to: b}]\n";
constexpr char kFormer[] =
    "mode: offload\nhosts: {h1: {address: 192.0.2.1}, h2: {address: 192.0.2.2}}\n"
    "nodes: {a: {on_host: h1}, b: {on_host: h2}}\nlinks: [{line: all}]\n"
    "traffic: [{from: a, to: b}]\n";

TEST(AliasesTest, FormerNamesMeanTheSame) {
  EXPECT_EQ(Parse(kFormer, "f.yaml").hash, Parse(kCurrent, "f.yaml").hash);
  EXPECT_EQ(Print(Parse(kFormer, "f.yaml")), Print(Parse(kCurrent, "f.yaml")));
}

TEST(AliasesTest, EitherNameOverridesEither) {
  for (const char* file : {kCurrent, kFormer}) {
    SCOPED_TRACE(file);
    for (const char* change : {"machines.h2.address=192.0.2.9", "hosts.h2.address=192.0.2.9"}) {
      EXPECT_EQ(Parse(file, "f.yaml", {change}).machines[1].address.ToString(), "192.0.2.9");
    }
    for (const char* change :
         {"nodes.b.on_machine=h1", "nodes.b.on_host=h1", "nodes.b={on_host: h1}"}) {
      EXPECT_EQ(Parse(file, "f.yaml", {change}).nodes[1].on_machine, "h1") << change;
    }
    for (const char* change : {"flows.0.size=99", "traffic[0].size=99"}) {
      EXPECT_EQ(Parse(file, "f.yaml", {change}).flows[0].size, 99) << change;
    }
  }
}

TEST(AliasesTest, BothNamesAreRefused) {
  for (const std::string both :
       {"hosts: {h3: {address: 192.0.2.3}}", "traffic: [{from: b, to: a}]"}) {
    try {
      Parse(kCurrent + both, "f.yaml");
      ADD_FAILURE() << both;
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), HasSubstr("f.yaml:6: "));
      EXPECT_THAT(error.what(), HasSubstr("is another name of"));
    }
  }
  EXPECT_THROW(Parse(kCurrent, "f.yaml", {"nodes.a={on_host: h1, on_machine: h1}"}), UsageError);
}

TEST(AliasesTest, NamesThatUsersChooseAreNoAliases) {
  const Scenario scenario = Parse("nodes: {on_host: {}, hosts: {}}\nlinks: [{line: all}]\n",
                                  "f.yaml", {"nodes.hosts={stack: ns3}"});
  EXPECT_EQ(scenario.nodes[0].name, "on_host");
  EXPECT_EQ(scenario.nodes[1].name, "hosts");
  EXPECT_EQ(ResolveAliases("flows.0.name=hosts.a"), "flows.0.name=hosts.a");
  EXPECT_EQ(ResolveAliases("hostsx=1"), "hostsx=1");
  EXPECT_EQ(ResolveAliases("hosts"), "machines") << "Override() refuses it";
}

}  // namespace
}  // namespace viaduct::scenario
