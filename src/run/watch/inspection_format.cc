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
  Rows rows = {{"node", "program", "interface", "forwarded", "other outcomes", "lost at the node"}};
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
    return fmt::format(
        "the forwarder exited and was not restarted: its nodes do not forward packets ({})\n",
        forwarder.last_words);
  }
  const std::string deaths =
      forwarder.restarts == 0
          ? ""
          : fmt::format(", restarted {} times after it exited unexpectedly ({})",
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
      Always<&I::name>("name", "text", "the name of the interface in the node"),
      WhenSet<&I::link>("link", "text", "the link of the lab to which the interface is connected"),
      Always<&I::mac>("mac", "an address", "the MAC address of the interface"),
      Always<&I::mtu>("mtu", "bytes", "the MTU of the interface"),
      Always<&I::up>("up", "true or false", "whether the interface is up"),
      Always<&I::carrier>("carrier", "true or false",
                          "whether the other end of the link is up, too"),
      Always<&I::addresses>("addresses", "a list of text", "the IP addresses, with prefix lengths"),
      Always<&I::rx_packets>("rx_packets", "packets", "packets that the interface has received"),
      Always<&I::rx_bytes>("rx_bytes", "bytes", "the bytes of the received packets"),
      Always<&I::rx_dropped>("rx_dropped", "packets", "received packets that the kernel dropped"),
      Always<&I::tx_packets>("tx_packets", "packets", "packets that the interface has sent"),
      Always<&I::tx_bytes>("tx_bytes", "bytes", "the bytes of the sent packets"),
      Always<&I::tx_dropped>("tx_dropped", "packets", "outgoing packets that the kernel dropped"),
  };
  return kKeys;
}

KeysOf<InspectedHop> InspectedHop::Keys() {
  using H = InspectedHop;
  static constexpr Key<H> kKeys[] = {
      WhenSet<&H::via>("via", "an address",
                       "the next hop; absent if the destination is on the link"),
      Always<&H::interface>("interface", "text", "the interface to the next hop"),
  };
  return kKeys;
}

KeysOf<InspectedRoute> InspectedRoute::Keys() {
  using R = InspectedRoute;
  static constexpr Key<R> kKeys[] = {
      Always<&R::to>("to", "a prefix", "the destination"),
      Always<&R::hops>("hops", "a list",
                       "the next hop, or several next hops that share the traffic"),
      Always<&R::metric>("metric", "a number",
                         "the metric of the route; the route with the lowest metric is preferred"),
      Always<&R::from>("from", "text",
                       "what created the route: protocol (the simulator), kernel, static, or a "
                       "protocol number as in rtnetlink(7)"),
  };
  return kKeys;
}

KeysOf<InspectedNode> InspectedNode::Keys() {
  using N = InspectedNode;
  static constexpr Key<N> kKeys[] = {
      Always<&N::name>("name", "text", "the name of the node"),
      Always<&N::data_plane>("data_plane", "text", "what forwards the node's packets"),
      Always<&N::reason>("reason", "text", "why the node has this data plane"),
      WhenSet<&N::program>("program", "text", "the forwarding program of data plane `program`"),
      WhenSet<&N::packets>("packets", "packets, by interface and outcome",
                           "the packets that arrived at each interface, by outcome; only for data "
                           "planes that count packets"),
      WhenSet<&N::drops>("drops", "packets, by cause", "the packets that the node has lost"),
      Always<&N::interfaces>("interfaces", "a list", "the interfaces in the node's namespace"),
      Always<&N::routes>(
          "routes", "a list",
          "the routes of all routing tables, except routes to the node's own addresses"),
      WhenSet<&N::routes_elsewhere>("routes_elsewhere", "text",
                                    "why the list of routes is incomplete"),
  };
  return kKeys;
}

KeysOf<InspectedLink> InspectedLink::Keys() {
  using L = InspectedLink;
  static constexpr Key<L> kKeys[] = {
      Always<&L::name>("name", "text", "the name of the link"),
      Always<&L::kind>("kind", "pair, shared, between hosts or interface",
                       "the kind of link; interface: a link outside the lab, to which a physical "
                       "interface of the machine is connected"),
      Always<&L::ends>("ends", "a list of text", "NODE:INTERFACE of each end that is in the lab"),
      Always<&L::specs>("specs", "a list of SPECs",
                        "the SPEC of the packets that each end sends, as set when the lab was "
                        "built; empty for a link without a SPEC"),
      WhenSet<&L::emulator>("emulator", "engine or kernel", "what emulates the SPECs"),
      Always<&L::statistics>(
          "statistics", "a list",
          "the statistics of the path engine, one map for each direction, with the current SPEC; "
          "empty if the path engine does not emulate the link"),
  };
  return kKeys;
}

KeysOf<InspectedForwarder> InspectedForwarder::Keys() {
  using F = InspectedForwarder;
  static constexpr Key<F> kKeys[] = {
      Always<&F::pid>("pid", "a process",
                      "the process ID of the forwarder or, if it is not running, of the forwarder "
                      "that ran last"),
      Always<&F::running>("running", "true or false",
                          "false if the forwarder exited and was not restarted"),
      Always<&F::restarts>(
          "restarts", "a number",
          "the number of attempts to restart the forwarder after an unexpected exit"),
      WhenSet<&F::last_words>("last_words", "text", "why the forwarder exited most recently"),
  };
  return kKeys;
}

KeysOf<Inspection> Inspection::Keys() {
  using I = Inspection;
  static constexpr Key<I> kKeys[] = {
      Always<&I::lab>("lab", "text", "the name of the lab"),
      WhenSet<&I::forwarder>("forwarder", "a map",
                             "the process that forwards for nodes with data plane userspace or "
                             "program; absent if there are no such nodes"),
      Always<&I::nodes>("nodes", "a list", "the nodes of the lab that have namespaces"),
      Always<&I::links>("links", "a list", "the links of the lab"),
      WhenSet<&I::trouble>("trouble", "text", "why the counters of links are missing"),
  };
  return kKeys;
}

std::string DocumentInspection() {
  return result::Chapter<Inspection>("viaduct ls LAB --json",
                                     "The current state and counters of a lab that is up.");
}

}  // namespace viaduct::watch
