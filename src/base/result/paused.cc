#include "base/result/paused.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/result/document.h"
#include "base/text/text_table.h"

namespace viaduct::result {

using fields::Always;
using fields::WhenSet;
namespace {

using Rows = std::vector<std::vector<std::string>>;

std::string Counted(const std::optional<uint64_t>& count) {
  return count ? std::to_string(*count) : "-";
}

Rows InterfaceRows(const PausedState& state) {
  Rows rows = {
      {"node", "stack", "interface", "state", "link", "addresses", "mtu", "waiting", "dropped"}};
  for (const PausedNode& node : state.nodes) {
    for (const PausedInterface& each : node.interfaces) {
      rows.push_back({node.name, node.stack, each.name, each.up ? "up" : "down",
                      each.link.empty() ? "-" : each.link,
                      fmt::format("{}", fmt::join(each.addresses, " ")), std::to_string(each.mtu),
                      Counted(each.waiting), Counted(each.dropped)});
    }
  }
  return rows;
}

Rows LinkRows(const PausedState& state) {
  Rows rows = {{"link", "ends", "state", "SPEC", "direction", "packets in", "waiting", "lost"}};
  for (const PausedNetwork& link : state.links) {
    const std::string ends = fmt::format("{}", fmt::join(link.ends, " "));
    const std::string up = link.up ? "up" : "down";
    if (link.statistics.empty()) rows.push_back({link.name, ends, up, "-", "-", "-", "-", "-"});
    for (const PipelineResult& each : link.statistics) {
      uint64_t lost = 0;
      for (const auto& [fate, count] : each.fates) lost += fate == "delivered" ? 0 : count;
      // The pipelines of a shared link have a pair LINK.NODE for each node: the packets that the
      // node sends and receives.
      const std::string node = each.pair == link.name ? "" : each.pair.substr(link.name.size() + 1);
      const std::string group = each.class_name.empty() ? "" : each.class_name + " ";
      const std::string direction = (node.empty() ? "" : node + " ") + group + each.direction;
      rows.push_back({link.name, ends, up, each.spec.empty() ? "-" : each.spec, direction,
                      std::to_string(each.arrived), std::to_string(each.waiting),
                      std::to_string(lost)});
    }
  }
  return rows;
}

// Formats the routes as plain text, not as a table, whose columns would be right-aligned.
std::string RoutesText(const PausedState& state) {
  std::string text;
  for (const PausedNode& node : state.nodes) {
    if (!node.routes.empty()) {
      text += fmt::format("\nroutes of {}\n  {}\n", node.name, fmt::join(node.routes, "\n  "));
    }
  }
  return text;
}

Rows NextRows(const PausedState& state) {
  Rows rows = {{"node", "next hop"}};
  for (const auto& [node, next] : state.next) {
    rows.push_back({node, next.empty() ? "none (no route)" : next});
  }
  return rows;
}

}  // namespace

std::string FormatPaused(const PausedState& state) {
  std::string text =
      fmt::format("simulation {}, paused at {:.6f} s: {} nodes, {} links\n", state.simulation,
                  state.time, state.nodes.size(), state.links.size());
  for (const Rows& rows : {InterfaceRows(state), LinkRows(state), NextRows(state)}) {
    if (rows.size() > 1) text += "\n" + FormatTable(rows);
  }
  return text + RoutesText(state);
}

fields::KeysOf<PausedInterface> PausedInterface::Keys() {
  using I = PausedInterface;
  static constexpr fields::Key<I> kKeys[] = {
      Always<&I::name>("name", "text",
                       "the name of the interface: its name in the node's kernel, or eth0, eth1... "
                       "in the order of the node's devices"),
      WhenSet<&I::link>("link", "text", "the link that the interface belongs to"),
      Always<&I::mac>("mac", "an address", "the MAC address of the interface"),
      Always<&I::mtu>("mtu", "bytes", "the MTU of the interface"),
      Always<&I::up>("up", "true or false", "whether the interface is up"),
      Always<&I::addresses>("addresses", "a list of text", "the IP addresses, with prefix lengths"),
      WhenSet<&I::waiting>("waiting", "packets",
                           "packets in ns-3's queueing discipline and in the device's queue; "
                           "absent if there is none"),
      WhenSet<&I::dropped>("dropped", "packets", "packets that these queues have dropped so far"),
  };
  return kKeys;
}

fields::KeysOf<PausedNode> PausedNode::Keys() {
  using N = PausedNode;
  static constexpr fields::Key<N> kKeys[] = {
      Always<&N::name>("name", "text", "the node"),
      Always<&N::stack>("stack", "ns3 or kernel",
                        "the kind of the node's IP stack: ns-3's own or a Linux kernel"),
      Always<&N::interfaces>("interfaces", "a list", "the node's interfaces"),
      Always<&N::routes>(
          "routes", "a list of text",
          "the routes of the node's routing protocols, with those of the highest priority first; "
          "for a node with a kernel use viaduct kernel shell NODE -- ip route"),
  };
  return kKeys;
}

fields::KeysOf<PausedNetwork> PausedNetwork::Keys() {
  using N = PausedNetwork;
  static constexpr fields::Key<N> kKeys[] = {
      Always<&N::name>("name", "text", "the link"),
      Always<&N::ends>("ends", "a list of text", "NODE:INTERFACE of each end"),
      Always<&N::up>("up", "true or false", "whether the link carries frames"),
      Always<&N::statistics>("statistics", "a list",
                             "the statistics of the link's path emulator, one for each direction; "
                             "empty if the link is a channel of ns-3 itself"),
  };
  return kKeys;
}

fields::KeysOf<PausedState> PausedState::Keys() {
  using S = PausedState;
  static constexpr fields::Key<S> kKeys[] = {
      Always<&S::simulation>("simulation", "text", "the name of the simulation"),
      Always<&S::time>("time", "s", "the virtual time at which the simulation is paused"),
      Always<&S::nodes>("nodes", "a list", "the nodes of the simulation"),
      Always<&S::links>("links", "a list", "the links of the simulation"),
      WhenSet<&S::next>("next", "a neighbour, by node",
                        "with --to NODE: the neighbour to which each other node sends packets for "
                        "NODE; empty if that node has no route"),
  };
  return kKeys;
}

std::string DocumentPaused() {
  return Chapter<PausedState>(
      "viaduct ls SIMULATION --json",
      "The current state of a paused simulation. No virtual time passes while the state is read.");
}

}  // namespace viaduct::result
