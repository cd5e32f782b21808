// The tables that `viaduct ls LAB` prints, and the keys of its output with --json.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/result/document.h"
#include "base/text/text_table.h"
#include "run/report/table.h"
#include "run/watch/inspection.h"
#include "run/watch/snapshot.h"

namespace viaduct::watch {

using fields::Always, fields::Key, fields::KeysOf, fields::WhenSet;

namespace {

using Rows = std::vector<std::vector<std::string>>;

std::string InterfaceState(const InspectedInterface& interface) {
  if (!interface.up) return "down";
  return interface.carrier ? "up" : "no carrier";
}

std::string Counted(uint64_t packets, uint64_t bytes) {
  return fmt::format("{}/{}", packets, bytes);
}

Rows InterfaceRows(const Inspection& inspection) {
  Rows rows = {{"node", "interface", "state", "link", "addresses", "mtu", "in packets/bytes",
                "out packets/bytes", "dropped"}};
  for (const InspectedNode& node : inspection.nodes) {
    for (const InspectedInterface& each : node.interfaces) {
      const bool is_bare = each.name == "lo" && each.addresses.size() <= 2 && each.rx_packets == 0;
      if (is_bare && std::ranges::all_of(each.addresses, [](const std::string& address) {
            return address == "127.0.0.1/8" || address == "::1/128";
          })) {
        continue;
      }
      rows.push_back(
          {node.name, each.name, InterfaceState(each), each.link.empty() ? "-" : each.link,
           fmt::format("{}", fmt::join(each.addresses, " ")), std::to_string(each.mtu),
           Counted(each.rx_packets, each.rx_bytes), Counted(each.tx_packets, each.tx_bytes),
           std::to_string(each.rx_dropped + each.tx_dropped)});
    }
  }
  return rows;
}

Rows RouteRows(const Inspection& inspection) {
  Rows rows = {{"node", "data plane", "to", "via", "interface", "metric", "from"}};
  for (const InspectedNode& node : inspection.nodes) {
    for (const InspectedRoute& route : node.routes) {
      std::vector<std::string> vias, interfaces;
      for (const InspectedHop& hop : route.hops) {
        vias.push_back(hop.via.empty() ? "-" : hop.via);
        interfaces.push_back(hop.interface);
      }
      rows.push_back({node.name, node.data_plane, route.to, fmt::format("{}", fmt::join(vias, " ")),
                      fmt::format("{}", fmt::join(interfaces, " ")), std::to_string(route.metric),
                      route.from});
    }
    if (!node.routes_elsewhere.empty()) {
      rows.push_back({node.name, node.data_plane, node.routes_elsewhere});
    }
  }
  return rows;
}

Rows LinkRows(const Inspection& inspection) {
  Rows rows = {
      {"link", "ends", "SPEC", "direction", "packets in", "packets out", "waiting", "lost"}};
  for (const InspectedLink& link : inspection.links) {
    const std::string ends = fmt::format("{}", fmt::join(link.ends, " "));
    if (link.statistics.empty()) {
      std::string specs = fmt::format("{}", fmt::join(link.specs, " | "));
      if (link.emulator == "kernel") specs += " (kernel)";
      rows.push_back({link.name, ends, specs.empty() ? "-" : specs, "-", "-", "-", "-", "-"});
    }
    for (const result::PipelineResult& each : link.statistics) {
      const uint64_t lost = LostOn(each);
      // The name of the node is in the name of a shared link's pair, LINK.NODE, which has the
      // packets that the node sends and receives.
      const std::string node = each.pair == link.name ? "" : each.pair.substr(link.name.size() + 1);
      const std::string group = each.class_name.empty() ? "" : each.class_name + " ";
      const std::string direction = (node.empty() ? "" : node + " ") + group + each.direction;
      rows.push_back({link.name, ends, each.spec.empty() ? "-" : each.spec, direction,
                      std::to_string(each.arrived),
                      std::to_string(each.arrived + each.duplicated - lost - each.waiting),
                      std::to_string(each.waiting), std::to_string(lost)});
    }
  }
  return rows;
}

// Returns the rows of packet counters of nodes whose data plane is not the kernel's forwarding.
Rows PacketRows(const Inspection& inspection) {
  Rows rows = {{"node", "program", "interface", "forwarded", "else", "lost at the node"}};
  for (const InspectedNode& node : inspection.nodes) {
    std::string lost = run::CausesText(node.drops);
    for (auto [interface, packets] : node.packets) {
      const uint64_t forwarded = packets["forwarded"];
      packets.erase("forwarded");
      packets.erase("forwarded-bytes");
      rows.push_back({node.name, node.program.empty() ? node.data_plane : node.program, interface,
                      std::to_string(forwarded), run::CausesText(packets),
                      std::exchange(lost, "")});
    }
  }
  return rows;
}

std::string ForwarderText(const InspectedForwarder& forwarder) {
  if (!forwarder.running) {
    return fmt::format("the forwarder died and was not replaced: its nodes forward nothing ({})\n",
                       forwarder.last_words);
  }
  const std::string deaths = forwarder.restarts == 0
                                 ? ""
                                 : fmt::format(", replaced {} times, as it died ({})",
                                               forwarder.restarts, forwarder.last_words);
  return fmt::format("forwarder: process {}{}\n", forwarder.pid, deaths);
}

}  // namespace

std::string FormatInspection(const Inspection& inspection) {
  std::string text = fmt::format("lab {}: {} nodes, {} links\n", inspection.lab,
                                 inspection.nodes.size(), inspection.links.size());
  if (inspection.forwarder) text += ForwarderText(*inspection.forwarder);
  for (const Rows& rows : {InterfaceRows(inspection), LinkRows(inspection), RouteRows(inspection),
                           PacketRows(inspection)}) {
    if (rows.size() > 1) text += "\n" + result::FormatTable(rows);
  }
  if (!inspection.trouble.empty()) text += "\n" + inspection.trouble + "\n";
  return text;
}

KeysOf<InspectedInterface> InspectedInterface::Keys() {
  using I = InspectedInterface;
  static constexpr Key<I> kKeys[] = {
      Always<&I::name>("name", "text", "in the node"),
      WhenSet<&I::link>("link", "text", "the lab's link that it is on"),
      Always<&I::mac>("mac", "an address", "its MAC address"),
      Always<&I::mtu>("mtu", "bytes", "its MTU"),
      Always<&I::up>("up", "true or false", "whether it is set up"),
      Always<&I::carrier>("carrier", "true or false", "whether its other end is up, too"),
      Always<&I::addresses>("addresses", "a list of text", "with the lengths of their prefixes"),
      Always<&I::rx_packets>("rx_packets", "packets", "that it has received"),
      Always<&I::rx_bytes>("rx_bytes", "bytes", "of them"),
      Always<&I::rx_dropped>("rx_dropped", "packets", "dropped by the kernel when they came"),
      Always<&I::tx_packets>("tx_packets", "packets", "that it has sent"),
      Always<&I::tx_bytes>("tx_bytes", "bytes", "of them"),
      Always<&I::tx_dropped>("tx_dropped", "packets", "dropped by the kernel before they left"),
  };
  return kKeys;
}

KeysOf<InspectedHop> InspectedHop::Keys() {
  using H = InspectedHop;
  static constexpr Key<H> kKeys[] = {
      WhenSet<&H::via>("via", "an address", "the next hop; absent: the destination is on the link"),
      Always<&H::interface>("interface", "text", "by which it leaves"),
  };
  return kKeys;
}

KeysOf<InspectedRoute> InspectedRoute::Keys() {
  using R = InspectedRoute;
  static constexpr Key<R> kKeys[] = {
      Always<&R::to>("to", "a prefix", "the destination"),
      Always<&R::hops>("hops", "a list", "one, or several that share the traffic"),
      Always<&R::metric>("metric", "a number", "the less, the more it is preferred"),
      Always<&R::from>("from", "text",
                       "who made it: protocol (the simulator's), kernel, static, or a number of "
                       "rtnetlink(7)"),
  };
  return kKeys;
}

KeysOf<InspectedNode> InspectedNode::Keys() {
  using N = InspectedNode;
  static constexpr Key<N> kKeys[] = {
      Always<&N::name>("name", "text", "the node"),
      Always<&N::data_plane>("data_plane", "text", "what forwards its packets"),
      Always<&N::reason>("reason", "text", "why that"),
      WhenSet<&N::program>("program", "text", "the forwarding program, of data plane `program`"),
      WhenSet<&N::packets>("packets", "packets, by interface and outcome",
                           "what came in and what became of it, where the data plane counts"),
      WhenSet<&N::drops>("drops", "packets, by cause", "that the node has lost"),
      Always<&N::interfaces>("interfaces", "a list", "its interfaces, in its namespace"),
      Always<&N::routes>("routes", "a list",
                         "of all its tables, without those to its own addresses"),
      WhenSet<&N::routes_elsewhere>("routes_elsewhere", "text", "why that is not all"),
  };
  return kKeys;
}

KeysOf<InspectedLink> InspectedLink::Keys() {
  using L = InspectedLink;
  static constexpr Key<L> kKeys[] = {
      Always<&L::name>("name", "text", "the link"),
      Always<&L::kind>("kind", "pair, shared, between hosts or interface",
                       "what it is; interface: of the machine, the other end is outside"),
      Always<&L::ends>("ends", "a list of text", "NODE:INTERFACE of each end that is in the lab"),
      Always<&L::specs>("specs", "a list of SPECs",
                        "of what each end sends, as the lab was built; empty: a plain wire"),
      WhenSet<&L::emulator>("emulator", "engine or kernel", "what emulates it"),
      Always<&L::statistics>("statistics", "a list",
                             "of the path engine, one for each direction, with the present SPEC; "
                             "empty: no engine emulates it"),
  };
  return kKeys;
}

KeysOf<InspectedForwarder> InspectedForwarder::Keys() {
  using F = InspectedForwarder;
  static constexpr Key<F> kKeys[] = {
      Always<&F::pid>("pid", "a process", "that forwards, or the last that did"),
      Always<&F::running>("running", "true or false", "false: it died and was not replaced"),
      Always<&F::restarts>("restarts", "a number", "how many have died and were to be replaced"),
      WhenSet<&F::last_words>("last_words", "text", "why the last of them died"),
  };
  return kKeys;
}

KeysOf<Inspection> Inspection::Keys() {
  using I = Inspection;
  static constexpr Key<I> kKeys[] = {
      Always<&I::lab>("lab", "text", "its name"),
      WhenSet<&I::forwarder>("forwarder", "a map",
                             "the process that forwards for nodes with data plane userspace or "
                             "program; absent: there are none"),
      Always<&I::nodes>("nodes", "a list", "its nodes that have namespaces"),
      Always<&I::links>("links", "a list", "its links"),
      WhenSet<&I::trouble>("trouble", "text", "why counters of links are missing"),
  };
  return kKeys;
}

std::string DocumentInspection() {
  return result::Chapter<Inspection>("viaduct ls LAB --json",
                                     "What a lab that is up is: asked for, and counted, now.");
}

}  // namespace viaduct::watch
