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
  Rows rows = {{"node", "sends it to"}};
  for (const auto& [node, next] : state.next) {
    rows.push_back({node, next.empty() ? "nobody: it has no route" : next});
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
                       "in the node: in its kernel, or eth0, eth1... in the order of its devices"),
      WhenSet<&I::link>("link", "text", "the link that it is on"),
      Always<&I::mac>("mac", "an address", "its MAC address"),
      Always<&I::mtu>("mtu", "bytes", "its MTU"),
      Always<&I::up>("up", "true or false", "whether it is set up"),
      Always<&I::addresses>("addresses", "a list of text", "with the lengths of their prefixes"),
      WhenSet<&I::waiting>("waiting", "packets",
                           "that wait in ns-3's queueing discipline and queue of the device; "
                           "absent: it has none"),
      WhenSet<&I::dropped>("dropped", "packets", "that these have dropped so far"),
  };
  return kKeys;
}

fields::KeysOf<PausedNode> PausedNode::Keys() {
  using N = PausedNode;
  static constexpr fields::Key<N> kKeys[] = {
      Always<&N::name>("name", "text", "the node"),
      Always<&N::stack>("stack", "ns3 or kernel", "whose its IP stack is"),
      Always<&N::interfaces>("interfaces", "a list", "its interfaces"),
      Always<&N::routes>("routes", "a list of text",
                         "of its routing protocols, those of the highest priority first; of a "
                         "node with a kernel: viaduct kernel shell NODE -- ip route"),
  };
  return kKeys;
}

fields::KeysOf<PausedNetwork> PausedNetwork::Keys() {
  using N = PausedNetwork;
  static constexpr fields::Key<N> kKeys[] = {
      Always<&N::name>("name", "text", "the link"),
      Always<&N::ends>("ends", "a list of text", "NODE:INTERFACE of each end"),
      Always<&N::up>("up", "true or false", "whether it carries frames"),
      Always<&N::statistics>("statistics", "a list",
                             "of its path emulator, one for each direction; empty: it is a "
                             "channel of ns-3's own"),
  };
  return kKeys;
}

fields::KeysOf<PausedState> PausedState::Keys() {
  using S = PausedState;
  static constexpr fields::Key<S> kKeys[] = {
      Always<&S::simulation>("simulation", "text", "its name"),
      Always<&S::time>("time", "s", "the virtual instant"),
      Always<&S::nodes>("nodes", "a list", "its nodes"),
      Always<&S::links>("links", "a list", "its links"),
      WhenSet<&S::next>("next", "text, by node",
                        "with --to NODE: the neighbour to which each other node sends what is for "
                        "it; empty: it has no route"),
  };
  return kKeys;
}

std::string DocumentPaused() {
  return Chapter<PausedState>("viaduct ls SIMULATION --json",
                              "A paused simulation, as it stands. To look lets no virtual time "
                              "pass.");
}

}  // namespace viaduct::result
