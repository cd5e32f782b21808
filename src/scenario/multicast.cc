#include "scenario/multicast.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <tuple>

#include "base/error.h"
#include "scenario/addresses.h"
#include "scenario/binding.h"
#include "scenario/protocols.h"

namespace viaduct::scenario {
namespace {

using wire::Family, wire::IpAddress;

const NodeSettings& NodeNamed(const Scenario& scenario, const std::string& name) {
  return *std::ranges::find(scenario.nodes, name, &NodeSettings::name);
}

bool IsOn(const Scenario& scenario, const std::string& node, const std::string& link) {
  const LinkSettings& settings = *std::ranges::find(scenario.links, link, &LinkSettings::name);
  return std::ranges::count(settings.nodes, node) > 0;
}

// Checks that routers may forward packets to the group (RFC 5771, section 4; RFC 4291, section
// 2.7).
void CheckGroup(const Section& section, const std::string& text) {
  const IpAddress group = section.Located("group", [&] { return IpAddress::Parse(text); });
  const bool is_ipv4 = group.family == Family::kIpv4;
  if (!group.IsMulticast()) {
    section.Fail("group", fmt::format("{} is not a multicast group; use an address such as {}",
                                      text, is_ipv4 ? "239.1.1.1" : "ff15::1"));
  }
  constexpr uint8_t kLinkLocal = 2;  // the widest scope that does not leave a link
  const bool stays = is_ipv4 ? group.bytes[0] == 224 && group.bytes[1] == 0 && group.bytes[2] == 0
                             : (group.bytes[1] & 0xf) <= kLinkLocal;
  if (stays)
    section.Fail(
        "group",
        fmt::format(
            "{} is a link-local group, whose packets are never forwarded; use another group",
            text));
}

// Refuses modes in which traffic to groups would silently give different results.
void CheckMulticastMode(const Section& section, const char* key, const Scenario& scenario) {
  if (scenario.mode == Mode::kSimulate || scenario.mode == Mode::kOffload) return;
  section.Fail(
      key,
      fmt::format("traffic to multicast groups is supported only in modes simulate and offload, "
                  "not in mode {}, where programs' packets to groups do not reach ns-3's nodes",
                  ModeName(scenario.mode)));
}

// Refuses nodes that cannot have traffic to groups: a kernel in virtual time has only its own
// routes to groups, and a program cannot join a group on a node whose data plane is the simulator.
void CheckMulticastNode(const Section& section, const char* key, const Scenario& scenario,
                        const std::string& name) {
  const NodeSettings& node = NodeNamed(scenario, name);
  if (scenario.mode == Mode::kSimulate && node.kernel) {
    section.Fail(key, fmt::format("the stack of {} is a kernel, for which traffic to multicast "
                                  "groups is not supported in mode simulate",
                                  name));
  }
  if (scenario.mode != Mode::kOffload || node.data_plane == nullptr) return;
  const std::string_view reason = node.data_plane->Unavailable(fib::Feature::kMulticast);
  if (!reason.empty()) {
    section.Fail(key, fmt::format("traffic to multicast groups is not supported at node {}: {}",
                                  name, reason));
  }
}

// Reads one entry of `multicast`.
class RouteEntry {
 public:
  RouteEntry(const Section& section, const NameTable& nodes, const NameTable& links,
             const Scenario& scenario)
      : section_(section), nodes_(nodes), links_(links), scenario_(scenario) {}

  MulticastRoute Read() {
    section_.Need({"node", "source", "group", "from", "to"});
    ReadMembers(section_, route_);
    section_.Located("node", [&] { nodes_.Check(route_.node); });
    CheckMulticastNode(section_, "node", scenario_, route_.node);
    if (NodeNamed(scenario_, route_.node).host) {
      section_.Fail("node", fmt::format("'{}' is a host, which forwards nothing", route_.node));
    }
    CheckGroup(section_, route_.group);
    ReadSource();
    CheckLink("from", route_.from);
    ReadTo();
    for (const MulticastRoute& other : scenario_.multicast) {
      if (std::tie(other.node, other.source, other.group) ==
          std::tie(route_.node, route_.source, route_.group)) {
        section_.Fail("node", fmt::format("'{}' already has a route from {} to {}", route_.node,
                                          route_.source, route_.group));
      }
    }
    return route_;
  }

 private:
  // Reads the source: an address, or a node, for which its first address of the group's family is
  // used.
  void ReadSource() {
    const Family family = IpAddress::Parse(route_.group).family;
    const bool is_ipv4 = family == Family::kIpv4;
    if (route_.source.find_first_of(".:") == std::string::npos) {
      section_.Located("source", [&] {
        nodes_.Check(route_.source);
        Flow to;
        to.to = route_.source;
        to.address = is_ipv4 ? "ipv4" : "ipv6";
        route_.source = AddressOf(scenario_, to).ToString();
      });
    }
    const IpAddress source =
        section_.Located("source", [&] { return IpAddress::Parse(route_.source); });
    route_.source = source.ToString();
    route_.group = IpAddress::Parse(route_.group).ToString();
    if (source.IsMulticast()) {
      section_.Fail("source", fmt::format("{} is a multicast group; use the address of a sender",
                                          route_.source));
    }
    if (source.family != family) {
      section_.Fail("source", fmt::format("{} is not an address of the group's family, {}",
                                          route_.source, is_ipv4 ? "IPv4" : "IPv6"));
    }
  }

  void CheckLink(const char* key, const std::string& link) const {
    section_.Located(key, [&] { links_.Check(link); });
    if (IsOn(scenario_, route_.node, link)) return;
    section_.Fail(key, fmt::format("'{}' is not on link '{}'", route_.node, link));
  }

  void ReadTo() {
    if (section_.At("to").IsScalar()) {  // the word `all`
      for (const std::string& link : links_.names()) {
        if (link != route_.from && IsOn(scenario_, route_.node, link)) route_.to.push_back(link);
      }
    } else {
      route_.to = section_.Texts("to");
    }
    std::vector<std::string> seen{route_.from};
    for (const std::string& link : route_.to) {
      CheckLink("to", link);
      if (std::ranges::count(seen, link) > 0) {
        section_.Fail("to",
                      fmt::format("link '{}' is given twice{}", link,
                                  link == route_.from ? ": the key from has this link, too" : ""));
      }
      seen.push_back(link);
    }
    if (route_.to.empty()) section_.Fail("to", "no link is listed");
  }

  const Section& section_;
  const NameTable& nodes_;
  const NameTable& links_;
  const Scenario& scenario_;
  MulticastRoute route_;
};

bool IsOneStream(const Flow& one, const Flow& other) {
  return !one.group.empty() && one.from == other.from && one.group == other.group;
}

bool HasFamilyOn(const LinkSettings& link, const std::string& node, Family family) {
  for (size_t i = 0; i < link.addresses.size(); ++i) {
    const wire::IpPrefix& one = link.addresses[i];
    if (one != kNoAddress && link.nodes[i % link.nodes.size()] == node &&
        one.address.family == family) {
      return true;
    }
  }
  return false;
}

void ReadLinkOfGroup(const Section& section, const NameTable& links, const Scenario& scenario,
                     Flow& flow) {
  const Family family = IpAddress::Parse(flow.group).family;
  if (section.Has("link")) {
    section.Located("link", [&] { links.Check(flow.link); });
    const auto link = std::ranges::find(scenario.links, flow.link, &LinkSettings::name);
    if (HasFamilyOn(*link, flow.from, family)) return;
    section.Fail("link", fmt::format("'{}' has no address of the group's family on link '{}'",
                                     flow.from, flow.link));
  }
  for (const LinkSettings& link : scenario.links) {
    if (!HasFamilyOn(link, flow.from, family)) continue;
    flow.link = link.name;
    return;
  }
  section.Fail("from", fmt::format("'{}' has no address of the group's family", flow.from));
}

}  // namespace

std::vector<MulticastRoute> ReadMulticast(const Section& file, const NameTable& nodes,
                                          const NameTable& links, const Scenario& scenario) {
  if (!file.Has("multicast")) return {};
  CheckMulticastMode(file, "multicast", scenario);
  if (FrameNodesOf(scenario) != nullptr) {
    file.Fail("multicast",
              "not supported, because nodes that forward frames have no routes: these nodes flood "
              "multicast frames; remove the key multicast");
  }
  Scenario so_far = scenario;
  file.Each("multicast", [&](const Section& section) {
    so_far.multicast.push_back(RouteEntry(section, nodes, links, so_far).Read());
  });
  return so_far.multicast;
}

void ReadGroup(const Section& section, const NameTable& links, const Scenario& scenario,
               Flow& flow) {
  if (!section.Has("group")) {
    if (section.Has("link"))
      section.Fail("link",
                   "supported only with the key group; otherwise the routes determine the link");
    return;
  }
  if (flow.kind != Flow::Kind::kUdp) section.Fail("group", "supported only for type udp");
  if (section.Has("address"))
    section.Fail("address",
                 "not supported with group, which is the flow's destination address; remove the "
                 "key address");
  CheckMulticastMode(section, "group", scenario);
  CheckMulticastNode(section, "from", scenario, flow.from);
  CheckMulticastNode(section, "to", scenario, flow.to);
  CheckGroup(section, flow.group);
  flow.group = IpAddress::Parse(flow.group).ToString();
  ReadLinkOfGroup(section, links, scenario, flow);
  for (const Flow& other : scenario.flows) {
    if (!IsOneStream(flow, other)) continue;
    if (other.to == flow.to) {
      section.Fail("to", fmt::format("'{}' already receives flow '{}'", flow.to, other.name));
    }
    if (std::tie(flow.link, flow.size, flow.rate, flow.start, flow.duration) !=
        std::tie(other.link, other.size, other.rate, other.start, other.duration)) {
      section.Fail(
          "group",
          fmt::format(
              "flow '{}' has the same sender and group, so the packets of both flows are the same: "
              "set the same link, size, rate, start and duration, or another group",
              other.name));
    }
  }
}

size_t StreamOf(const Scenario& scenario, size_t index) {
  const Flow& flow = scenario.flows.at(index);
  for (size_t i = 0; i < index; ++i) {
    if (IsOneStream(flow, scenario.flows[i])) return i;
  }
  return index;
}

}  // namespace viaduct::scenario
