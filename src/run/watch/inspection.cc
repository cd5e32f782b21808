#include "run/watch/inspection.h"

#include <linux/rtnetlink.h>

#include <algorithm>

#include "base/error.h"
#include "lab/broker/client.h"
#include "lab/broker/lab_engine.h"
#include "path/engine/control.h"
#include "plane/fib/kernel_routes.h"
#include "sys/network/link.h"
#include "sys/network/route_dump.h"

namespace viaduct::watch {
namespace {

using nlohmann::json;

// The name of the link of a node's interface; the key is "NODE:INTERFACE".
using LinksByEnd = std::map<std::string, std::string>;

std::string EndName(const lab::Endpoint& end) { return end.node + ":" + end.interface; }

// Returns the interfaces of the machine that are links of the lab.
std::vector<InspectedLink> OutsideLinks(const lab::Topology& topology) {
  std::vector<InspectedLink> links;
  for (const lab::Node& node : topology.nodes) {
    for (const lab::Interface& interface : node.interfaces) {
      if (interface.link.empty()) continue;
      InspectedLink& link = links.emplace_back();
      link.name = interface.link;
      link.kind = "interface";
      link.ends = {EndName({node.name, interface.name})};
    }
  }
  return links;
}

LinksByEnd LinksOf(const lab::Topology& topology) {
  LinksByEnd links;
  for (const lab::Link& link : topology.links) {
    for (const lab::Endpoint& end : link.endpoints) links[EndName(end)] = link.name;
  }
  for (const InspectedLink& link : OutsideLinks(topology)) links[link.ends.front()] = link.name;
  return links;
}

InspectedInterface Describe(const sys::LinkInfo& info,
                            const std::vector<sys::InterfaceAddress>& addresses) {
  InspectedInterface interface;
  interface.name = info.name;
  interface.mac = info.mac.ToString();
  interface.mtu = info.mtu;
  interface.up = info.up;
  interface.carrier = info.carrier;
  for (const sys::InterfaceAddress& each : addresses) {
    if (each.ifindex == info.ifindex) interface.addresses.push_back(each.address.ToString());
  }
  interface.rx_packets = info.counters.rx_packets;
  interface.rx_bytes = info.counters.rx_bytes;
  interface.rx_dropped = info.counters.rx_dropped;
  interface.tx_packets = info.counters.tx_packets;
  interface.tx_bytes = info.counters.tx_bytes;
  interface.tx_dropped = info.counters.tx_dropped;
  return interface;
}

// Returns the origin of a route, by its protocol number (rtnetlink(7)).
std::string OriginOf(uint8_t protocol) {
  switch (protocol) {
    case fib::kRouteProtocol:
      return "protocol";
    case RTPROT_KERNEL:
      return "kernel";
    case RTPROT_BOOT:
    case RTPROT_STATIC:
      return "static";
    default:
      return std::to_string(protocol);
  }
}

std::string NameOf(int ifindex, const std::vector<sys::LinkInfo>& links) {
  const auto found = std::ranges::find(links, ifindex, &sys::LinkInfo::ifindex);
  return found == links.end() ? "" : found->name;
}

std::vector<InspectedRoute> KernelRoutes(sys::Netlink& netlink,
                                         const std::vector<sys::LinkInfo>& links) {
  std::vector<InspectedRoute> routes;
  for (const sys::DumpedRoute& each : sys::DumpRoutes(netlink.socket())) {
    if (each.type != RTN_UNICAST || each.table == RT_TABLE_LOCAL) continue;
    InspectedRoute route;
    route.to = each.destination.ToString();
    for (const sys::RouteHop& hop : each.hops) {
      route.hops.push_back(
          {hop.gateway ? hop.gateway->ToString() : "", NameOf(hop.ifindex, links)});
    }
    route.metric = each.metric;
    route.from = OriginOf(each.protocol);
    routes.push_back(std::move(route));
  }
  return routes;
}

// Returns the routes of a node whose data plane has tables outside of the kernel.
std::vector<InspectedRoute> OwnRoutes(broker::Client& client, const std::string& node) {
  std::vector<InspectedRoute> routes;
  for (const auto& [key, each] : client.ReadRoutes(node)) {
    InspectedRoute route;
    route.to = key.destination.ToString();
    for (const fib::NextHop& hop : each.next_hops) {
      const bool is_on_link = hop.gateway.IsUnspecified();
      route.hops.push_back({is_on_link ? "" : hop.gateway.ToString(), hop.interface});
    }
    route.metric = key.metric;
    route.from = "protocol";
    routes.push_back(std::move(route));
  }
  return routes;
}

InspectedNode InspectNode(broker::Client& client, const lab::Node& node, const json& description,
                          const LinksByEnd& links) {
  InspectedNode inspected;
  inspected.name = node.name;
  const json& plane = description.at("data_planes").at(node.name);
  inspected.data_plane = plane.at("name").get<std::string>();
  inspected.reason = plane.at("reason").get<std::string>();
  if (node.program) inspected.program = node.program->name;
  const auto counted = [&](const char* what, auto& into) {
    const auto all = description.find(what);
    if (all != description.end() && all->contains(node.name)) all->at(node.name).get_to(into);
  };
  counted("packets", inspected.packets);
  counted("drops", inspected.drops);
  sys::Netlink netlink(client.OpenLinkMonitor(node.name));
  const std::vector<sys::LinkInfo> infos = netlink.Links();
  const std::vector<sys::InterfaceAddress> addresses = netlink.Addresses();
  for (const sys::LinkInfo& info : infos) {
    InspectedInterface interface = Describe(info, addresses);
    const auto link = links.find(EndName({node.name, info.name}));
    if (link != links.end()) interface.link = link->second;
    inspected.interfaces.push_back(std::move(interface));
  }
  const fib::DataPlane* chosen = fib::FindDataPlane(inspected.data_plane);
  inspected.routes = KernelRoutes(netlink, infos);
  if (chosen != nullptr && chosen->in_simulator()) {
    inspected.routes_elsewhere =
        "the simulator forwards the packets of this node and has the node's routes";
  } else if (chosen != nullptr && !chosen->layout.kernel_forwards) {
    for (InspectedRoute& route : OwnRoutes(client, node.name)) {
      inspected.routes.push_back(std::move(route));
    }
  }
  return inspected;
}

InspectedLink InspectLink(const lab::Link& link,
                          const std::vector<result::PipelineResult>& statistics) {
  constexpr const char* kKinds[] = {"pair", "shared", "between hosts"};
  InspectedLink inspected;
  inspected.name = link.name;
  inspected.kind = kKinds[static_cast<size_t>(link.kind)];
  for (const lab::Endpoint& end : link.endpoints) inspected.ends.push_back(EndName(end));
  for (const path::Spec& spec : link.specs) inspected.specs.push_back(path::FormatSpec(spec));
  if (!link.specs.empty()) inspected.emulator = lab::EmulatorName(link.emulator);
  for (const result::PipelineResult& each : statistics) {
    // Takes also the statistics of a shared link, each end of which has a separate pair
    // (path::SharedPairName()).
    const bool is_its = each.pair == link.name || (link.kind == lab::Link::Kind::kBridge &&
                                                   each.pair.starts_with(link.name + "."));
    if (is_its) inspected.statistics.push_back(each);
  }
  return inspected;
}

}  // namespace

Inspection Inspect(const std::string& lab, Duration timeout) {
  broker::Client client = broker::Client::ConnectToLab(lab);
  const json description = client.Describe();
  const auto topology = [&] {
    json wanted = json::object();
    for (const char* key :
         {"name", "seed", "directory", "nodes", "links", "remotes", "hub", "others"}) {
      if (description.contains(key)) wanted[key] = description.at(key);
    }
    return wanted.get<lab::Topology>();
  }();
  Inspection inspection;
  inspection.lab = topology.name;
  const LinksByEnd links = LinksOf(topology);
  for (const lab::Node& node : topology.nodes) {
    inspection.nodes.push_back(InspectNode(client, node, description, links));
  }
  if (description.contains("forwarder")) {
    inspection.forwarder = description.at("forwarder").get<InspectedForwarder>();
  }
  result::EngineResult engine;
  if (description.contains("engine")) {
    try {
      engine = engine::Ask(description.at("engine").at("socket").get<std::string>(), {}, timeout)
                   .at("stats")
                   .get<result::EngineResult>();
    } catch (const Error& error) {
      inspection.trouble = std::string("cannot read the counters of links: ") + error.what();
    }
  }
  for (const lab::Link& link : topology.links) {
    inspection.links.push_back(InspectLink(link, engine.pipelines));
  }
  for (InspectedLink& link : OutsideLinks(topology)) inspection.links.push_back(std::move(link));
  return inspection;
}

}  // namespace viaduct::watch
