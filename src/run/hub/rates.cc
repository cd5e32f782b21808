#include "run/hub/rates.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"

namespace viaduct::run {
namespace {

using scenario::Flow;
using scenario::LinkSettings;

// Whether any number of packets passes a link with this SPEC without taking any time.
bool IsInstant(const path::Spec& spec) {
  return !spec.link.HasRate() && !spec.link.shared && !spec.delay.HasDelay();
}

// Whether packets of at least one traffic class can pass the link in both directions without taking
// any time.
bool IsInstant(const LinkSettings& link) {
  if (IsWifi(link)) return false;
  const auto both = [](const auto& settings) {
    return IsInstant(settings.up.value_or(settings.spec)) &&
           IsInstant(settings.down.value_or(settings.spec));
  };
  return both(link) || std::ranges::any_of(link.classes, both);
}

bool HasRate(const LinkSettings& link, const std::string& sender) {
  if (IsWifi(link) || std::ranges::find(link.nodes, sender) == link.nodes.end()) return false;
  const bool is_pair = link.kind == lab::Link::Kind::kPair;
  const auto& direction = link.nodes.front() == sender ? link.up : link.down;
  return (is_pair && direction ? *direction : link.spec).link.rate.has_value();
}

bool Forwards(const scenario::Scenario& scenario, const std::string& name) {
  const auto node = std::ranges::find(scenario.nodes, name, &scenario::NodeSettings::name);
  return node != scenario.nodes.end() && !node->host;
}

// Whether packets can reach the flow's receiver over instant links and forwarding nodes only. (A
// link is instant if packets pass it without taking any time.)
bool HasInstantWay(const scenario::Scenario& scenario, const Flow& flow) {
  std::set<std::string> reached = {flow.from};
  std::vector<std::string> next = {flow.from};
  while (!next.empty() && !reached.contains(flow.to)) {
    const std::string from = next.back();
    next.pop_back();
    if (from != flow.from && !Forwards(scenario, from)) continue;
    for (const LinkSettings& link : scenario.links) {
      if (!IsInstant(link) || std::ranges::find(link.nodes, from) == link.nodes.end()) continue;
      for (const std::string& node : link.nodes) {
        if (reached.insert(node).second) next.push_back(node);
      }
    }
  }
  return reached.contains(flow.to);
}

}  // namespace

void CheckHubRates(const scenario::Scenario& scenario) {
  for (size_t i = 0; i < scenario.flows.size(); ++i) {
    const Flow& flow = scenario.flows[i];
    if (flow.rate || flow.kind == Flow::Kind::kPing) continue;
    std::string unlimited;
    if (flow.kind == Flow::Kind::kTcp && HasInstantWay(scenario, flow)) {
      unlimited =
          fmt::format("links from {} to {} have neither a rate nor a delay", flow.from, flow.to);
    } else if (flow.kind == Flow::Kind::kUdp &&
               std::ranges::none_of(scenario.links, [&](const LinkSettings& link) {
                 return HasRate(link, flow.from);
               })) {
      unlimited = fmt::format("no link of {} has a rate", flow.from);
    }
    if (unlimited.empty()) continue;
    throw UsageError(fmt::format(
        "{0}: flows[{1}]: the flow has no rate, and {2}, so nothing limits the flow in a simulated "
        "hub; set flows[{1}].rate, or the rate of a link (spec: rate=100Mbit)",
        scenario.file, i, unlimited));
  }
}

}  // namespace viaduct::run
