#include "scenario/sample.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "scenario/keys.h"
#include "scenario/scenario.h"

namespace viaduct::scenario {
namespace {

struct Case {
  const char* topology;
  size_t nodes, links;
};

TEST(SampleTest, EveryTopologyIsAScenarioOfItsSize) {
  for (const Case& each :
       {Case{"line", 5, 4}, Case{"ring", 6, 6}, Case{"grid", 16, 24}, Case{"star", 6, 5},
        Case{"tree", 7, 6}, Case{"line,2", 2, 1}, Case{"ring,3", 3, 3}, Case{"grid,1x2", 2, 1},
        Case{"grid,3x2", 6, 7}, Case{"star,2", 2, 1}, Case{"tree,2", 2, 1}, Case{"wifi", 4, 1},
        Case{"wifi,2", 2, 1}, Case{"line,1000", 1000, 999}}) {
    const Scenario scenario = Parse(SampleScenario(each.topology), each.topology);
    EXPECT_EQ(scenario.nodes.size(), each.nodes) << each.topology;
    EXPECT_EQ(scenario.links.size(), each.links) << each.topology;
    EXPECT_EQ(scenario.flows.size(), 2U) << each.topology;
  }
}

TEST(SampleTest, TheProtocolAndTheHeadAreTheCallers) {
  const std::string text = SampleScenario("ring", "RIP", "# head\n");
  EXPECT_EQ(text.substr(0, 7), "# head\n");
  EXPECT_EQ(Parse(text, "x").routing.protocol, "ns3::Rip");
}

TEST(SampleTest, SizesThatMakeNoTopologyAreRefused) {
  for (const char* wrong : {"", "cube", "line,1", "ring,2", "grid,4", "grid,0x4", "grid,1x1",
                            "grid,200x200", "tree,1", "star,1", "line,2001", "line,-3", "line,"}) {
    EXPECT_THROW(SampleScenario(wrong), UsageError) << wrong;
  }
}

const nlohmann::json& Member(const nlohmann::json& schema, const char* name) {
  return schema.at("properties").at(name);
}

TEST(SchemaTest, HasEveryKeyAndNoOther) {
  const auto schema = nlohmann::json::parse(DocumentSchema());
  EXPECT_EQ(schema.at("additionalProperties"), false);
  const nlohmann::json& link = Member(schema, "links").at("items");
  EXPECT_EQ(Member(Member(link, "grid"), "columns").at("type")[0], "integer");
  EXPECT_EQ(Member(link, "mtu").at("minimum"), 68);
  EXPECT_EQ(link.at("additionalProperties"), false);
  const nlohmann::json& nodes = Member(schema, "nodes").at("anyOf")[2];
  EXPECT_TRUE(nodes.at("properties").contains("count"));
  EXPECT_TRUE(nodes.at("additionalProperties").at("properties").contains("gateway"));
  EXPECT_EQ(Member(schema, "traffic").at("items"), Member(schema, "flows").at("items"));
  const std::string text = DocumentSchema(), mark = "\"description\"";
  size_t described = 0;
  for (size_t at = 0; (at = text.find(mark, at)) != std::string::npos; ++at) ++described;
  // The schema describes the keys below a key that has an alias twice: below the key and below the
  // alias.
  size_t repeated = 0;
  for (const Key& alias : Keys()) {
    if (alias.type != Type::kAlias) continue;
    repeated += std::ranges::count_if(Keys(), [&](const Key& key) {
      return key.path != std::string_view(alias.choices) &&
             std::string_view(key.path).starts_with(alias.choices);
    });
  }
  EXPECT_EQ(described, Keys().size() + repeated);
}

}  // namespace
}  // namespace viaduct::scenario
