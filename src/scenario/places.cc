#include "scenario/places.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "base/units.h"
#include "scenario/end_hosts.h"

namespace viaduct::scenario {
namespace {

double Metres(const std::string& text) {
  double metres = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), metres);
  constexpr double kMost = 1e7;
  if (error != std::errc() || end != text.data() + text.size() || !(std::abs(metres) <= kMost)) {
    throw UsageError(fmt::format("'{}' is not a number of metres (at most ten million)", text));
  }
  return metres;
}

Waypoint Place(std::span<const std::string> words) {
  if (words.size() != 2 && words.size() != 3) {
    throw UsageError("expected two numbers, x and y, and optionally a third, the height");
  }
  Waypoint place;
  place.x = Metres(words[0]);
  place.y = Metres(words[1]);
  if (words.size() == 3) place.z = Metres(words[2]);
  return place;
}

void AddWaypoint(const std::string& text, std::vector<Waypoint>& points) {
  std::istringstream stream(text);
  const std::vector<std::string> words{std::istream_iterator<std::string>(stream), {}};
  if (words.size() < 3)
    throw UsageError(fmt::format("'{}' is not a time, x and y, such as 5s 0 100", text));
  const Duration at = ParseDuration(words[0]);
  if (points.empty() && at != Duration()) {
    throw UsageError(fmt::format("the first waypoint must be at 0s, not at {}", words[0]));
  }
  if (!points.empty() && at <= points.back().at) {
    throw UsageError(fmt::format("{} is not after the time of the previous waypoint, {}", words[0],
                                 FormatDuration(points.back().at)));
  }
  points.push_back(Place(std::span(words).subspan(1)));
  points.back().at = at;
}

std::vector<Waypoint> PlacesOf(const Section& node) {
  std::vector<Waypoint> points;
  if (node.Has("position")) {
    if (node.Has("waypoints"))
      node.Fail(
          "position",
          "cannot be combined with waypoints, which set the first position; remove one of the two");
    return {node.Located("position", [&] { return Place(node.Texts("position")); })};
  }
  for (const std::string& text : node.Texts("waypoints")) {
    node.Located("waypoints", [&] { AddWaypoint(text, points); });
  }
  if (node.Has("waypoints") && points.size() < 2) {
    node.Fail("waypoints", "two waypoints or more are needed; for only one, use position");
  }
  return points;
}

class PlaceReader {
 public:
  PlaceReader(const Section& file, Scenario* scenario) : file_(file), scenario_(*scenario) {}

  void Read() {
    const bool has_wifi = std::ranges::any_of(scenario_.links, IsWifi);
    if (has_wifi && scenario_.mode != Mode::kSimulate) {
      file_.Fail(
          "links",
          fmt::format("wifi: not supported in mode {}, because only ns-3 simulates Wi-Fi channels; "
                      "use mode simulate, or a SPEC with similar behaviour (slot, loss, rate)",
                      ModeName(scenario_.mode)));
    }
    scenario_.mobility.is_given = has_wifi || file_.Has("mobility");
    CheckMobility();
    ReadNodes();
  }

 private:
  void CheckMobility() const {
    const Section section = file_.Inner("mobility");
    const Mobility& mobility = scenario_.mobility;
    for (const std::string& metres : mobility.area) {
      section.Located("area", [&] { ParseInteger(metres, 1, 1'000'000); });
    }
    if (section.Has("area") && mobility.area.size() != 2) {
      section.Fail("area", "expected two numbers: width and height");
    }
    if (mobility.area.empty() && mobility.layout == Mobility::Layout::kRandom) {
      section.Fail("layout", "random positions need an area; for example: area: [500, 300]");
    }
    if (section.Has("spacing") && mobility.layout == Mobility::Layout::kRandom) {
      section.Fail("spacing", "random positions have no spacing; remove the key spacing");
    }
    if (section.Has("attributes") && mobility.model.empty()) {
      section.Fail("attributes", "these are the attributes of a mobility model; add the key model");
    }
    if (section.Has("area") && mobility.layout != Mobility::Layout::kRandom &&
        mobility.model.empty()) {
      section.Fail("area",
                   "used only for random positions or by a mobility model; add layout: random, or "
                   "the key model");
    }
  }

  void ReadNodes() {
    const Value* nodes = file_.Find("nodes");
    if (nodes == nullptr || !nodes->IsMap()) return;
    for (NodeSettings& node : scenario_.nodes) {
      const Value* value = nodes->Find(node.name);
      if (value == nullptr) continue;
      const Section section(*value, "nodes.NAME", "nodes." + node.name);
      node.waypoints = PlacesOf(section);
    }
  }

  const Section& file_;
  Scenario& scenario_;
};

}  // namespace

void ReadPlaces(const Section& file, Scenario* scenario) { PlaceReader(file, scenario).Read(); }

bool HasPlace(const Scenario& scenario, const NodeSettings& node) {
  if (!node.waypoints.empty() || IsOnWifi(scenario, node.name)) return true;
  return scenario.mobility.is_given && std::ranges::none_of(scenario.links, IsWifi);
}

bool IsOnWifi(const Scenario& scenario, const std::string& node) {
  return std::ranges::any_of(scenario.links, [&](const LinkSettings& link) {
    return std::ranges::count(link.wifi.nodes, node) > 0;
  });
}

}  // namespace viaduct::scenario
