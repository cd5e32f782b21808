#include "scenario/addresses.h"

#include <algorithm>
#include <optional>

#include "base/error.h"

namespace viaduct::scenario {
namespace {

using wire::Family, wire::IpAddress;

// The conditions that select one of a node's addresses.
struct Wanted {
  std::string link;              // name of the link of the address; empty: any link
  std::optional<Family> family;  // absent: any family, IPv4 before IPv6
  std::optional<IpAddress> address;

  bool Admits(const LinkSettings& candidate, const IpAddress& one) const {
    return (link.empty() || candidate.name == link) && (!family || one.family == *family) &&
           (!address || one == *address);
  }
};

std::optional<Family> FamilyNamed(const std::string& word) {
  if (word == "ipv4") return Family::kIpv4;
  if (word == "ipv6") return Family::kIpv6;
  return std::nullopt;
}

// Parses "ipv6", "LINK", "LINK/ipv6" or an address, which is the only form with a dot or a colon.
Wanted ParseWanted(const std::string& text) {
  if (text.find_first_of(".:") != std::string::npos) return {"", {}, IpAddress::Parse(text)};
  if (const auto family = FamilyNamed(text)) return {"", family, {}};
  const size_t slash = text.find('/');
  if (slash == std::string::npos) return {text, {}, {}};
  const auto family = FamilyNamed(text.substr(slash + 1));
  if (!family) throw UsageError("'" + text + "': expected ipv4 or ipv6 after the slash");
  return {text.substr(0, slash), family, {}};
}

std::optional<IpAddress> Find(const Scenario& scenario, const std::string& node,
                              const Wanted& wanted) {
  std::optional<IpAddress> ipv6;
  const auto settings = std::ranges::find(scenario.nodes, node, &NodeSettings::name);
  if (settings != scenario.nodes.end() && wanted.link.empty()) {
    for (const wire::IpPrefix& own : settings->loopback) {
      const bool is_wanted = (!wanted.family || own.address.family == *wanted.family) &&
                             (!wanted.address || own.address == *wanted.address);
      if (is_wanted) return own.address;
    }
  }
  for (const LinkSettings& link : scenario.links) {
    for (size_t i = 0; i < link.addresses.size(); ++i) {
      const IpAddress& address = link.addresses[i].address;
      if (link.addresses[i] == kNoAddress) continue;
      if (link.nodes[i % link.nodes.size()] != node || !wanted.Admits(link, address)) continue;
      if (address.family == Family::kIpv4) return address;
      if (!ipv6) ipv6 = address;
    }
  }
  return ipv6;
}

}  // namespace

wire::IpAddress AddressOf(const Scenario& scenario, const std::string& node) {
  const auto found = Find(scenario, node, {});
  if (!found) throw UsageError("node '" + node + "' has no address; add the node to a link");
  return *found;
}

wire::IpAddress AddressOf(const Scenario& scenario, const Flow& flow) {
  if (!flow.group.empty()) return IpAddress::Parse(flow.group);
  if (flow.address.empty()) return AddressOf(scenario, flow.to);
  const auto found = Find(scenario, flow.to, ParseWanted(flow.address));
  if (!found)
    throw UsageError("'" + flow.address + "': node '" + flow.to + "' has no such address");
  return *found;
}

std::optional<IpAddress> SourceOf(const Scenario& scenario, const Flow& flow) {
  const auto sender = std::ranges::find(scenario.nodes, flow.from, &NodeSettings::name);
  if (sender == scenario.nodes.end()) return std::nullopt;
  const Family family = AddressOf(scenario, flow).family;
  for (const wire::IpPrefix& own : sender->loopback) {
    if (own.address.family == family) return own.address;
  }
  return std::nullopt;
}

bool HasAddress(const Scenario& scenario, const std::string& node) {
  return Find(scenario, node, {}).has_value();
}

bool HasAddress(const Scenario& scenario, const std::string& node, const wire::IpAddress& address) {
  return Find(scenario, node, {.link = "", .family = {}, .address = address}).has_value();
}

}  // namespace viaduct::scenario
