#include "lab/joined_paths.h"

#include <algorithm>
#include <optional>

#include "base/clock.h"
#include "base/error.h"
#include "lab/fabric.h"
#include "path/packet/pipeline_name.h"
#include "path/packet/pipeline_options.h"
#include "sys/network/change_monitor.h"
#include "sys/network/packet_taps.h"
#include "sys/network/route_lookup.h"
#include "sys/network/sysctl.h"

namespace viaduct::lab {
namespace {

// The time until the counters of a forgotten path are used again; after this time no packet can be
// counted by these counters.
constexpr Duration kCoolDown = Duration::Seconds(2);
// The maximum time until a new packet tap or new packet rules of a node apply to packets on the
// joined paths through the node.
constexpr Duration kBusyInterval = Duration::Milliseconds(500);

struct Traffic {
  uint64_t packets = 0;
  uint64_t bytes = 0;
};

// The properties of a node, valid until its configuration changes.
struct Facts {
  std::map<int, Routers::Interface> up;  // the key is the ifindex
  std::map<wire::Family, std::set<int>> forwards;
};

uint64_t SysctlOf(int space, const std::string& name) {
  try {
    return std::stoull(sys::ReadSysctl(space, name));
  } catch (const Error&) {
    return 0;  // the interface is gone, or the node has no IPv6
  }
}

// Whether the interface forwards IPv4 by the destination only. With rp_filter, for example,
// forwarding also depends on the source.
bool ForwardsIpv4(int space, const std::string& interface) {
  const std::string conf = "net/ipv4/conf/";
  return SysctlOf(space, conf + interface + "/forwarding") == 1 &&
         SysctlOf(space, "net/ipv4/ip_forward_use_pmtu") == 0 &&
         SysctlOf(space, conf + interface + "/rp_filter") == 0 &&
         SysctlOf(space, conf + "all/rp_filter") == 0;
}

bool ForwardsIpv6(int space, const std::string& interface) {
  const std::string conf = "net/ipv6/conf/" + interface;
  return SysctlOf(space, conf + "/forwarding") == 1 && SysctlOf(space, conf + "/disable_ipv6") == 0;
}

Facts FactsOf(sys::Netlink& session, int space) {
  Facts facts;
  const bool rules4 = sys::HasDefaultRules(session, wire::Family::kIpv4);
  const bool rules6 = sys::HasDefaultRules(session, wire::Family::kIpv6);
  for (const sys::LinkInfo& link : session.Links()) {
    if (!link.up || !link.running) continue;
    facts.up[link.ifindex] = {static_cast<uint32_t>(link.mtu), link.mac};
    if (rules4 && ForwardsIpv4(space, link.name)) {
      facts.forwards[wire::Family::kIpv4].insert(link.ifindex);
    }
    if (rules6 && ForwardsIpv6(space, link.name)) {
      facts.forwards[wire::Family::kIpv6].insert(link.ifindex);
    }
  }
  return facts;
}

}  // namespace

struct JoinedPaths::State final : Routers {
  struct NodeState {
    NodeState(Lab& lab, const Node& the_node)
        : name(the_node.name),
          space(lab.NamespaceFd(the_node.name)),
          session(lab.NetlinkOf(the_node.name)),
          monitor(space),
          joins(the_node.data_plane->layout.joins_paths) {}

    std::string name;
    int space;
    sys::Netlink& session;
    sys::ChangeMonitor monitor;
    bool joins;
    std::optional<Facts> facts;
    std::vector<wire::IpAddress> addresses;
    // Whether the node does more to packets than forward them, or a process reads its packets.
    bool is_busy = false;
    uint64_t exceptions = 0;  // the number of exceptions to the node's IPv6 routes
    Instant busy_until;       // the time until which is_busy and exceptions are valid
    std::set<bpf::PathKey> paths;
  };
  struct Path {
    std::vector<Hop> hops;
    std::vector<size_t> nodes;
    bpf::PathCounters counters;
    uint64_t too_bigs = 0;  // Joiner::TooBigs() when the path was found
  };
  struct Cooling {
    Instant until;
    std::vector<Hop> hops;
    bpf::PathCounters counters;
  };

  explicit State(Lab& the_lab)
      : lab(the_lab), wires(FindWires()), map(wires), joiner(lab.FabricFd(), JoinWires()) {
    for (const Node& node : lab.topology().nodes) {
      numbers[node.name] = nodes.size();
      nodes.push_back(std::make_unique<NodeState>(lab, node));
    }
    for (uint32_t i = bpf::Joiner::kMaxPaths; i > 0; --i) free_counters.push_back(i - 1);
    for (size_t i = 0; i < nodes.size(); ++i) OnConfiguration(i);
  }

  WireEnd EndOf(size_t link, size_t endpoint) {
    const Endpoint& end = lab.topology().links[link].endpoints[endpoint];
    const auto& all = lab.topology().nodes;
    const auto node = std::ranges::find(all, end.node, &Node::name);
    const int ifindex = lab.IfIndex(end);
    const auto info = lab.NetlinkOf(end.node).FindLink(ifindex);
    if (!info)
      throw Error("interface " + end.interface + " of node " + end.node + " no longer exists");
    return {static_cast<size_t>(node - all.begin()), ifindex, info->mac,
            lab.FabricNetlink().IfIndex(FabricPort(link, endpoint)), RandomLossOf(link, endpoint)};
  }

  // Returns the random loss of frames that an endpoint sends. The random stream is that of the path
  // engine's loss model, so that the same frames are lost.
  std::optional<bpf::RandomLoss> RandomLossOf(size_t number, size_t endpoint) const {
    const Link& link = lab.topology().links[number];
    if (link.IsPlainWire()) return std::nullopt;
    path::PipelineOptions options;
    options.seed = lab.topology().seed;
    options.name = path::PipelineName(
        link.name, "", endpoint == 0 ? path::Direction::kUp : path::Direction::kDown);
    return bpf::RandomLoss{*LossOf(link.specs[endpoint]), options.Stream("loss")};
  }

  std::vector<Wire> FindWires() {
    std::vector<Wire> found;
    const Topology& topology = lab.topology();
    for (size_t i = 0; i < topology.links.size(); ++i) {
      if (IsJoined(topology, topology.links[i])) found.push_back({EndOf(i, 0), EndOf(i, 1)});
    }
    return found;
  }

  std::vector<bpf::JoinWire> JoinWires() const {
    std::vector<bpf::JoinWire> list;
    for (const Wire& wire : wires) {
      list.push_back({{wire.a.fabric_ifindex, wire.a.mac, wire.a.loss},
                      {wire.b.fabric_ifindex, wire.b.mac, wire.b.loss}});
    }
    return list;
  }

  // Passes the routers' addresses to the joiner: a router's kernel discards packets that come from
  // its own addresses.
  void TellAddresses() {
    std::map<wire::IpAddress, uint32_t> addresses;
    for (size_t i = 0; i < nodes.size(); ++i) {
      for (const wire::IpAddress& address : nodes[i]->addresses) {
        addresses[address] = static_cast<uint32_t>(i);
      }
    }
    joiner.SetAddresses(addresses);
  }

  // Reads a node's configuration. A wire's end in the fabric stands for the interface at the far
  // end of the wire: packets that the interface would discard on arrival are discarded in the
  // fabric.
  void OnConfiguration(size_t number) {
    NodeState& node = *nodes[number];
    node.facts.reset();
    node.addresses.clear();
    for (const sys::InterfaceAddress& of : node.session.Addresses()) {
      node.addresses.push_back(of.address.address);
    }
    TellAddresses();
    for (const sys::LinkInfo& link : node.session.Links()) {
      const auto [here, there] = map.Find(number, link.ifindex);
      if (here == nullptr) continue;
      const auto known = beyond.try_emplace(there->fabric_ifindex).first;
      if (known->second.mtu != static_cast<uint32_t>(link.mtu)) {
        lab.FabricNetlink().SetMtu(there->fabric_ifindex, link.mtu);
      }
      if (known->second.mac != link.mac) joiner.SetFarMac(there->fabric_ifindex, link.mac);
      known->second = {static_cast<uint32_t>(link.mtu), link.mac};
    }
  }

  const Facts& FactsOfNode(NodeState& node) {
    if (!node.facts) node.facts = FactsOf(node.session, node.space);
    return *node.facts;
  }

  bool IsBusy(NodeState& node) {
    const Instant now = MonotonicClock::Now();
    if (now >= node.busy_until) {
      node.is_busy = sys::HasPacketTap(node.space) || sys::HasPacketRules(node.space);
      node.exceptions = sys::CountExceptions(node.space);
      node.busy_until = now + kBusyInterval;
    }
    return node.is_busy;
  }

  std::optional<Interface> FindInterface(size_t node, int ifindex) override {
    const auto& up = FactsOfNode(*nodes[node]).up;
    const auto found = up.find(ifindex);
    return found == up.end() ? std::nullopt : std::optional(found->second);
  }

  bool OnlyForwards(size_t number, int ifindex, wire::Family family) override {
    NodeState& node = *nodes[number];
    if (!node.joins || IsBusy(node)) return false;
    const auto& forwards = FactsOfNode(node).forwards;
    const auto found = forwards.find(family);
    return found != forwards.end() && found->second.contains(ifindex);
  }

  std::optional<NextHop> FindNextHop(size_t node, const wire::IpAddress& destination,
                                     uint8_t tos) override {
    sys::Netlink& session = nodes[node]->session;
    const auto route = sys::FindSimpleRoute(session, destination, tos);
    if (!route) return std::nullopt;
    // A router that has learned a path MTU uses this MTU when it forwards IPv6 packets
    // (ip6_forward()).
    if (destination.family == wire::Family::kIpv6 && sys::HasException(session, destination)) {
      return std::nullopt;
    }
    const auto mac = sys::FindNeighbour(session, route->ifindex, route->next_hop);
    return mac ? std::optional(NextHop{route->ifindex, *mac}) : std::nullopt;
  }

  void Serve(const bpf::PathKey& key) {
    const auto known = paths.find(key);
    const uint64_t too_bigs = joiner.TooBigs();
    // The packet that caused the request may have arrived before its path was known. Meanwhile the
    // path may have become known.
    if (known != paths.end() && !IsStale(key, known->second, too_bigs)) return;
    if (known != paths.end()) Forget(key);
    Walk walk = WalkPath(map, *this, key);
    walk.path.too_bigs = too_bigs;
    Learn(key, walk);
  }

  // Whether a known path must be computed again. A path whose packets go hop by hop is always
  // computed again, because it may have become possible to join the path, for example if a tap was
  // closed.
  bool IsStale(const bpf::PathKey& key, const Path& path, uint64_t too_bigs) {
    const bool is_ipv6 = key.destination.family == wire::Family::kIpv6;
    return path.hops.empty() || (is_ipv6 && path.too_bigs != too_bigs) ||
           std::ranges::any_of(path.hops, [&](const Hop& hop) {
             NodeState& node = *nodes[hop.node];
             return IsBusy(node) || (is_ipv6 && node.exceptions != 0 &&
                                     sys::HasException(node.session, key.destination));
           });
  }

  void Learn(const bpf::PathKey& key, const Walk& walk) {
    const size_t lossy = walk.path.lossy_ends.size();
    if (free_counters.size() < 1 + lossy) return ForgetAll();
    bpf::PathCounters counters{TakeCounter(), {}};
    for (size_t i = 0; i < lossy; ++i) counters.lost.push_back(TakeCounter());
    if (!joiner.Set(key, walk.path, counters)) return GiveBack(counters);
    for (const size_t node : walk.nodes) nodes[node]->paths.insert(key);
    paths[key] = {walk.hops, walk.nodes, counters, walk.path.too_bigs};
  }

  uint32_t TakeCounter() {
    const uint32_t counter = free_counters.back();
    free_counters.pop_back();
    joiner.ClearTraffic(counter);
    return counter;
  }

  void GiveBack(const bpf::PathCounters& counters) {
    free_counters.push_back(counters.passed);
    free_counters.insert(free_counters.end(), counters.lost.begin(), counters.lost.end());
  }

  void Forget(const bpf::PathKey& key) {
    const auto found = paths.find(key);
    if (found == paths.end()) return;
    joiner.Remove(key);
    for (const size_t node : found->second.nodes) nodes[node]->paths.erase(key);
    cooling.push_back(
        {MonotonicClock::Now() + kCoolDown, found->second.hops, found->second.counters});
    paths.erase(found);
  }

  void ForgetThrough(NodeState& node) {
    const auto keys = node.paths;  // a copy, because Forget() changes node.paths
    for (const bpf::PathKey& key : keys) Forget(key);
  }

  void ForgetAll() {
    while (!paths.empty()) Forget(paths.begin()->first);
  }

  void CoolDown() {
    const Instant now = MonotonicClock::Now();
    std::erase_if(cooling, [&](const Cooling& old) {
      if (old.until > now) return false;
      AddTraffic(old.hops, old.counters, &totals);
      GiveBack(old.counters);
      return true;
    });
  }

  // The traffic that each interface received; the key is a node's number and the ifindex.
  using Totals = std::map<std::pair<size_t, int>, Traffic>;

  // Adds a path's traffic to the totals of its hops, from the last hop to the first: packets lost
  // on a wire have passed the hops before the wire.
  void AddTraffic(const std::vector<Hop>& hops, const bpf::PathCounters& counters,
                  Totals* to) const {
    if (hops.empty()) return;
    viaduct_joined_traffic traffic = joiner.TrafficOf(counters.passed);
    auto lost = counters.lost.rbegin();
    for (auto hop = hops.rbegin(); hop != hops.rend(); ++hop) {
      if (hop->may_lose) {
        const viaduct_joined_traffic there = joiner.TrafficOf(*lost++);
        traffic.packets += there.packets;
        traffic.bytes += there.bytes;
      }
      Traffic& total = (*to)[{hop->node, hop->enters}];
      total.packets += traffic.packets;
      total.bytes += traffic.bytes;
    }
  }

  Totals AllTraffic() const {
    Totals all = totals;
    for (const auto& [key, path] : paths) AddTraffic(path.hops, path.counters, &all);
    for (const Cooling& old : cooling) AddTraffic(old.hops, old.counters, &all);
    return all;
  }

  std::map<std::string, uint64_t> ByWire(int port) const {
    std::map<std::string, uint64_t> packets;
    const viaduct_join_port counters = joiner.CountersOf(port);
    for (int i = VIADUCT_JOINED + 1; i < VIADUCT_JOIN_OUTCOMES; ++i) {
      packets[bpf::OutcomeName(static_cast<viaduct_join_outcome>(i))] = counters.packets[i];
    }
    return packets;
  }

  void OnChanges(size_t number) {
    NodeState& node = *nodes[number];
    const sys::NetworkChanges changes = node.monitor.Read();
    if (changes.any()) ForgetThrough(node);
    if (changes.configuration) OnConfiguration(number);
  }

  Lab& lab;
  const std::vector<Wire> wires;
  const WireMap map;
  bpf::Joiner joiner;
  std::vector<std::unique_ptr<NodeState>> nodes;  // ordered as in the topology
  std::map<std::string, size_t> numbers;
  std::map<bpf::PathKey, Path> paths;
  // The interfaces at the far ends of wires; the key is the ifindex of the interface's peer in the
  // fabric.
  std::map<int, Interface> beyond;
  std::vector<uint32_t> free_counters;
  std::vector<Cooling> cooling;
  Totals totals;  // the traffic on paths that have been forgotten
};

JoinedPaths::JoinedPaths(Lab& lab) : state_(std::make_unique<State>(lab)) {}
JoinedPaths::~JoinedPaths() = default;

std::vector<int> JoinedPaths::Descriptors() const {
  std::vector<int> list{state_->joiner.fd()};
  for (const auto& node : state_->nodes) list.push_back(node->monitor.fd());
  return list;
}

bool JoinedPaths::OnReadable(int descriptor) {
  if (descriptor == state_->joiner.fd()) {
    state_->CoolDown();
    for (const bpf::PathKey& key : state_->joiner.TakeRequests()) state_->Serve(key);
    return true;
  }
  for (size_t i = 0; i < state_->nodes.size(); ++i) {
    if (state_->nodes[i]->monitor.fd() != descriptor) continue;
    state_->OnChanges(i);
    return true;
  }
  return false;
}

void JoinedPaths::OnChanged(const std::string& node) {
  state_->OnChanges(state_->numbers.at(node));
}

void JoinedPaths::OnLink(const std::string& node, const sys::LinkEvent& event) {
  const auto [here, there] = state_->map.Find(state_->numbers.at(node), event.ifindex);
  if (here == nullptr) return;
  state_->lab.FabricNetlink().SetUp(there->fabric_ifindex, event.up && !event.removed);
}

void JoinedPaths::LeaveToKernel(const std::string& node) {
  State::NodeState& state = *state_->nodes[state_->numbers.at(node)];
  state.joins = false;
  state_->ForgetThrough(state);
}

std::map<std::string, JoinedPaths::NodeCounters> JoinedPaths::PacketCounters() const {
  std::map<std::string, NodeCounters> all;
  const State::Totals traffic = state_->AllTraffic();
  for (size_t number = 0; number < state_->nodes.size(); ++number) {
    for (const sys::LinkInfo& link : state_->nodes[number]->session.Links()) {
      const auto [here, there] = state_->map.Find(number, link.ifindex);
      if (here == nullptr) continue;
      auto& of = all[state_->nodes[number]->name][link.name];
      of = state_->ByWire(there->fabric_ifindex);
      const auto joined = traffic.find({number, link.ifindex});
      const Traffic sum = joined == traffic.end() ? Traffic() : joined->second;
      of["joined"] = sum.packets;
      of["joined-bytes"] = sum.bytes;
    }
  }
  return all;
}

std::vector<WireLoss> JoinedPaths::Losses() const {
  std::vector<WireLoss> all;
  const Topology& topology = state_->lab.topology();
  for (size_t i = 0; i < topology.links.size(); ++i) {
    if (!IsJoined(topology, topology.links[i])) continue;
    for (const size_t endpoint : {0, 1}) {
      const int port = state_->lab.FabricNetlink().IfIndex(FabricPort(i, endpoint));
      const auto loss = state_->joiner.LossOf(port);
      if (loss) all.push_back({i, endpoint, *loss});
    }
  }
  return all;
}

}  // namespace viaduct::lab
