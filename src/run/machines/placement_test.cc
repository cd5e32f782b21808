#include "run/machines/placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace viaduct::machines {
namespace {

using testing::ElementsAre, testing::HasSubstr;

const char kTwo[] =
    "mode: offload\nmachines: {h1: {address: 192.0.2.1}, h2: {address: 192.0.2.2}}\n";

std::vector<std::string> PlacesOf(const std::string& rest) {
  scenario::Scenario scenario = scenario::Parse(kTwo + rest, "file.yaml");
  PlaceNodes(scenario);
  std::vector<std::string> places;
  for (const auto& node : scenario.nodes) places.push_back(node.on_machine);
  return places;
}

std::string ErrorIn(const std::string& rest) {
  try {
    PlacesOf(rest);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(Placement, GivenPlacesStay) {
  EXPECT_THAT(PlacesOf("nodes: {a: {on_machine: h2}, b: {on_machine: h1}}\nlinks: [{line: all}]"),
              ElementsAre("h2", "h1"));
}

TEST(Placement, EveryHostHasANode) {
  EXPECT_THAT(ErrorIn("nodes: {a: {on_machine: h1}, b: {on_machine: h1}}\nlinks: [{line: all}]"),
              HasSubstr("machine h2 has no node"));
}

TEST(Placement, ASharedLinkIsOnOneHost) {
  EXPECT_THAT(ErrorIn("nodes: {a: {on_machine: h1}, b: {on_machine: h2}}\nlinks: [{shared: all}]"),
              HasSubstr("on several machines; set the same on_machine"));
}

#ifdef VIADUCT_HAS_METIS

TEST(Placement, TheSlowLinksAreCut) {
  const auto places = PlacesOf(
      "nodes: 6\nlinks: [{ring: [n0, n1, n2]}, {ring: [n3, n4, n5]},"
      "{pair: [n2, n3], spec: rate=10Mbit}]");
  EXPECT_EQ(places[0], places[1]);
  EXPECT_EQ(places[0], places[2]);
  EXPECT_EQ(places[3], places[4]);
  EXPECT_EQ(places[3], places[5]);
  EXPECT_NE(places[0], places[3]);
}

TEST(Placement, ItGoesByThoseThatAreGiven) {
  EXPECT_THAT(PlacesOf("nodes: {a: {}, b: {on_machine: h2}, c: {}, d: {}}\n"
                       "links: [{pair: [a, b]}, {pair: [c, d]}, {pair: [b, c], spec: rate=1Mbit}]"),
              ElementsAre("h2", "h2", "h1", "h1"));
}

TEST(Placement, NodesOfASharedLinkStayTogether) {
  const auto places = PlacesOf(
      "nodes: 6\nlinks: [{shared: [n0, n1, n2]}, {shared: [n3, n4, n5]}, {pair: [n0, n3]}]");
  EXPECT_EQ(places[0], places[2]);
  EXPECT_EQ(places[3], places[5]);
}

#endif

}  // namespace
}  // namespace viaduct::machines
