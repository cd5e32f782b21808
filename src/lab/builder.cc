#include "lab/builder.h"

#include <linux/rtnetlink.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "base/wire/address_scope.h"
#include "lab/fabric.h"
#include "lab/impairment.h"
#include "lab/names.h"
#include "lab/node_settings.h"
#include "lab/physical_interface.h"
#include "lab/tunnel.h"
#include "sys/network/netns.h"
#include "sys/network/offload.h"
#include "sys/network/route_dump.h"
#include "sys/network/sysctl.h"
#include "sys/network/tun.h"
#include "sys/process/process.h"

namespace viaduct::lab {
namespace {

using nlohmann::json;

// A network namespace of the lab, open while the lab exists: a node's, or the fabric.
struct Space {
  std::string name;
  UniqueFd fd;
  sys::Netlink netlink;
  std::map<std::string, int> ifindexes;

  explicit Space(std::string namespace_name)
      : name(std::move(namespace_name)), fd(sys::OpenNamespace(name)), netlink(fd.get()) {}
};

void CheckPrivilege(const std::string& lab) {
  try {
    sys::InScratchNamespace([] {});
  } catch (const SystemError& error) {
    if (error.error_number() != EPERM) throw;
    throw EnvironmentError("lab " + lab + ": root is required (sudo; in a container --privileged)");
  }
}

}  // namespace

std::string NamespaceName(const std::string& lab, const std::string& node) {
  return lab + "." + node;
}

// The state of a lab in this process, and the steps that build the lab.
struct Lab::State {
  State(const Topology& the_topology, const LabOptions& options)
      : topology(the_topology),
        record_root(options.record_root),
        owner_uid(options.owner_uid),
        cards(*options.cards),
        ipv6(UsesIpv6(the_topology)),
        impaired(HasKernelImpairments(the_topology)),
        record(TakeLab(options.record_root, the_topology.name, options.owner_uid,
                       HostsFile(the_topology))) {}

  void Build() {
    MakeNamespaces();
    for (size_t i = 0; i < topology.links.size(); ++i) {
      switch (topology.links[i].kind) {
        case Link::Kind::kPair:
          MakePair(topology.links[i], i);
          break;
        case Link::Kind::kBridge:
          MakeBridge(topology.links[i], i);
          break;
        case Link::Kind::kTunnel:
          MakeTunnel(topology.links[i], i);
          break;
      }
    }
    PhysicalMover mover(record_root, &record, &cards);
    for (const Node& node : topology.nodes) {
      if (!HasPhysical(node)) continue;
      Space& space = SpaceOf(node.name);
      mover.MoveIn(node, space.name, space.fd.get(), space.netlink);
    }
    for (const Node& node : topology.nodes) FinishNode(node);
    for (const Link& link : topology.links) Impair(link);
    for (const Node& node : topology.nodes) {
      sys::WriteSysctls(SpaceOf(node.name).fd.get(), node.sysctls);
    }
    for (size_t i = 0; i < topology.links.size(); ++i) AwaitCarriers(i);
  }

  // Waits for the carriers of a link's ends, so that the first packets of programs are not lost.
  void AwaitCarriers(size_t number) {
    const Link& link = topology.links[number];
    for (size_t i = 0; i < link.endpoints.size(); ++i) {
      const Endpoint& end = link.endpoints[i];
      if (FindRemote(topology, end.node) != nullptr) continue;
      AwaitCarrier(link, SpaceOf(end.node), end.interface);
      if (HasFabricPort(link, i)) {
        AwaitCarrier(link, SpaceOf(kFabricNode), FabricPort(number, i));
      }
    }
  }

  // Waits for the carrier of an end that has been set up, and of its peer in the fabric, at most
  // until `end_of_wait`. A timeout is not an error, because a process may have set the peer down.
  void AwaitCarrierOf(const Endpoint& endpoint, Instant end_of_wait) {
    const auto left = [&] {
      return std::max(end_of_wait - MonotonicClock::Now(), Duration::Milliseconds(1));
    };
    SpaceOf(endpoint.node).netlink.AwaitRunning(endpoint.interface, left());
    for (size_t number = 0; number < topology.links.size(); ++number) {
      const Link& link = topology.links[number];
      for (size_t i = 0; i < link.endpoints.size(); ++i) {
        const Endpoint& end = link.endpoints[i];
        if (end.node == endpoint.node && end.interface == endpoint.interface &&
            HasFabricPort(link, i)) {
          SpaceOf(kFabricNode).netlink.AwaitRunning(FabricPort(number, i), left());
        }
      }
    }
  }

  // Whether the link's end is a veth pair whose peer is in the fabric.
  bool HasFabricPort(const Link& link, size_t end) const {
    return link.kind == Link::Kind::kBridge || IsEmulated(topology, link, end) ||
           IsJoined(topology, link);
  }

  static void AwaitCarrier(const Link& link, Space& space, const std::string& interface) {
    if (!space.netlink.AwaitRunning(interface, Duration::Seconds(2))) {
      throw Error("link " + link.name + ": interface " + interface + " in namespace " + space.name +
                  " does not come up");
    }
  }

  std::vector<std::string> Remove() {
    spaces.clear();  // this process's descriptors would keep the namespaces alive
    return RemoveRun(record.Read<RunInfo>(), cards);
  }

  void MakeNamespaces() {
    for (const Node& node : topology.nodes) {
      if (!node.container.empty()) {
        EnterContainer(node);
        continue;
      }
      MakeNamespace(node.name,
                    NodeSysctls(node.data_plane->layout, ipv6, node.interfaces.size() > 1));
    }
    if (NeedsFabric(topology)) {
      MakeNamespace(kFabricNode, FabricSysctls());
      LeaveFramesAlone(SpaceOf(kFabricNode).fd.get());
    }
  }

  // Disables br_netfilter, which containers load, in the fabric: with br_netfilter, bridges drop
  // frames that IP would drop, and count them in no counter that a run reads
  // (net/bridge/br_netfilter_hooks.c, br_validate_ipv4()).
  static void LeaveFramesAlone(int fabric_fd) {
    for (const char* of : {"iptables", "ip6tables", "arptables"}) {
      try {
        sys::WriteSysctl(fabric_fd, std::string("net.bridge.bridge-nf-call-") + of, "0");
      } catch (const UsageError&) {  // br_netfilter is absent, or has no settings per namespace
      }
    }
  }

  // Records a namespace, calls `make`, which must give a namespace the name of the node, and opens
  // the namespace.
  template <class Make>
  Space& NameSpace(const std::string& node, bool foreign, const Make& make) {
    const std::string name = NamespaceName(topology.name, node);
    if (sys::NamespaceExists(name)) ThrowNamespaceTaken(name);
    record.Write({{"object", "namespace"}, {"name", name}, {"foreign", foreign}});
    try {
      make(name);
    } catch (const SystemError& error) {
      record.Write({{"object", "namespace_not_made"}, {"name", name}});
      if (error.error_number() == EEXIST) ThrowNamespaceTaken(name);
      throw;
    }
    Space& space = spaces.emplace(node, Space(name)).first->second;
    record.Write({{"object", "namespace_made"},
                  {"name", name},
                  {"inode", sys::NamespaceInode(space.fd.get())}});
    return space;
  }

  // Prepares the namespace of a container, which the lab does not own: the lab adds interfaces with
  // their addresses and routes, which disappear with the interfaces, and changes nothing else.
  void EnterContainer(const Node& node) {
    const std::string what = "node " + node.name + ": container";
    const UniqueFd given = sys::OpenUsersNamespace(node.container, owner_uid, what);
    if (sys::NamespaceInode(given.get()) ==
        sys::NamespaceInode(sys::OpenCurrentNamespace().get())) {
      throw UsageError(what + " " + node.container + " uses this machine's own network");
    }
    Space& space = NameSpace(
        node.name, true, [&](const std::string& name) { sys::NameNamespace(given.get(), name); });
    for (const sys::LinkInfo& link : space.netlink.Links()) {
      next_ifindex = std::max(next_ifindex, link.ifindex + 1);
    }
    for (const Interface& interface : node.interfaces) {
      if (space.netlink.FindLink(interface.name)) {
        throw UsageError(what + " " + node.container + ": the container already has an interface " +
                         interface.name + "; start the container with --network none");
      }
    }
    for (const sys::DumpedRoute& route : sys::DumpRoutes(space.netlink.socket())) {
      if (route.destination.length == 0 && route.type == RTN_UNICAST) {
        throw UsageError(what + " " + node.container +
                         ": the container already has a default route, but the node needs its own; "
                         "remove the route, or start the container with --network none");
      }
    }
    for (const Interface& interface : node.interfaces) {
      record.Write({{"object", "guest"},
                    {"namespace", space.name},
                    {"name", interface.name},
                    {"mac", interface.mac.ToString()}});
    }
  }

  void MakeNamespace(const std::string& node, const Sysctls& sysctls) {
    Space& space =
        NameSpace(node, false, [](const std::string& name) { sys::CreateNamespace(name); });
    sys::WriteSysctls(space.fd.get(), sysctls, !ipv6);
    space.netlink.SetUp(space.netlink.IfIndex("lo"), true);
  }

  [[noreturn]] void ThrowNamespaceTaken(const std::string& name) const {
    throw UsageError("network namespace " + name +
                     " exists but belongs to no lab; choose another " + "name for lab " +
                     topology.name + ", or remove the namespace (ip netns del " + name + ")");
  }

  Space& SpaceOf(const std::string& node) {
    const auto found = spaces.find(node);
    if (found == spaces.end()) {
      throw UsageError("lab " + topology.name + " has no node \"" + node + "\"");
    }
    return found->second;
  }

  const Node& NodeOf(const std::string& name) const {
    for (const Node& node : topology.nodes) {
      if (node.name == name) return node;
    }
    throw UsageError("lab " + topology.name + " has no node \"" + name + "\"");
  }

  const Interface& InterfaceOf(const Endpoint& endpoint) const {
    if (const Remote* remote = FindRemote(topology, endpoint.node)) return remote->interface;
    for (const Interface& interface : NodeOf(endpoint.node).interfaces) {
      if (interface.name == endpoint.interface) return interface;
    }
    throw UsageError("node " + endpoint.node + " has no interface \"" + endpoint.interface + "\"");
  }

  int IfIndexOf(const Endpoint& endpoint) {
    Space& space = SpaceOf(endpoint.node);
    InterfaceOf(endpoint);
    auto [found, fresh] = space.ifindexes.emplace(endpoint.interface, 0);
    if (fresh) found->second = space.netlink.IfIndex(endpoint.interface);
    return found->second;
  }

  bool KeepsOffloads(const Endpoint& endpoint) const {
    return NodeOf(endpoint.node).data_plane->layout.keeps_offloads;
  }

  sys::VethEnd EndOf(const Endpoint& endpoint) {
    const Interface& interface = InterfaceOf(endpoint);
    Space& space = SpaceOf(endpoint.node);
    space.ifindexes[interface.name] = next_ifindex;
    return {space.fd.get(), interface.name, interface.mac, interface.mtu, next_ifindex++};
  }

  void MakePair(const Link& link, size_t number) {
    record.Write({{"object", "link"}, {"name", link.name}});
    if (IsEmulated(topology, link, 0) || IsJoined(topology, link)) {
      for (const size_t i : {0, 1}) {
        if (FindRemote(topology, link.endpoints[i].node) == nullptr)
          MakeFabricPort(link, number, i);
      }
      return;
    }
    const Endpoint& a = link.endpoints[0];
    const Endpoint& b = link.endpoints[1];
    SpaceOf(a.node).netlink.CreateVethPair(EndOf(a), EndOf(b));
    // If one node needs frames as they would be on a wire, offloads are disabled at both ends: the
    // opposite end must also send such frames.
    if (KeepsOffloads(a) && KeepsOffloads(b)) return;
    for (const Endpoint& end : link.endpoints) {
      sys::DisableOffloads(SpaceOf(end.node).fd.get(), end.interface, sys::Offloads::kAll);
    }
  }

  // Makes a veth pair to the fabric, and sets the fabric's end up. Returns the ifindex of that end.
  int MakeFabricPort(const Link& link, size_t number, size_t endpoint) {
    Space& fabric = SpaceOf(kFabricNode);
    const Endpoint& end = link.endpoints[endpoint];
    const std::string port = FabricPort(number, endpoint);
    const int ifindex = next_ifindex++, mtu = InterfaceOf(end).mtu;
    fabric.netlink.CreateVethPair({-1, port, std::nullopt, mtu, ifindex}, EndOf(end));
    if (NeedsWireFrames(topology, link, endpoint)) {
      sys::DisableOffloads(fabric.fd.get(), port, sys::Offloads::kAll);
      sys::DisableOffloads(SpaceOf(end.node).fd.get(), end.interface, sys::Offloads::kAll);
    }
    fabric.netlink.SetUp(ifindex, true);
    return ifindex;
  }

  // Makes the VXLAN interface of a link to another host: as the node's interface, or, if the link
  // is emulated, as the engine's second port.
  void MakeTunnel(const Link& link, size_t number) {
    record.Write({{"object", "link"}, {"name", link.name}});
    const Endpoint& end = link.endpoints[0];
    sys::VxlanLink vxlan;
    vxlan.vni = link.tunnel->vni;
    vxlan.port = link.tunnel->port;
    vxlan.remote = link.tunnel->remote;
    vxlan.mtu = InterfaceOf(end).mtu;
    CheckTunnelMtu(vxlan, link.name);
    const bool emulated = IsEmulated(topology, link, 0);
    if (emulated) {
      MakeFabricPort(link, number, 0);
      vxlan.name = FabricInnerPort(number, 0);
      vxlan.ifindex = next_ifindex++;
    } else {
      const sys::VethEnd place = EndOf(end);
      vxlan.name = place.name;
      vxlan.mac = *place.mac;
      vxlan.ifindex = place.ifindex;
    }
    Space& space = SpaceOf(emulated ? kFabricNode : end.node);
    vxlan.namespace_fd = space.fd.get();
    sys::Netlink host;  // a session in the current namespace, which reaches the other hosts
    CreateTunnel(host, vxlan, link);
    if (emulated || !KeepsOffloads(end)) {
      sys::DisableOffloads(space.fd.get(), vxlan.name, sys::Offloads::kAll);
    }
    try {
      space.netlink.SetUp(vxlan.ifindex, true);
    } catch (const SystemError& error) {
      if (error.error_number() != EADDRINUSE) throw;
      throw EnvironmentError("link " + link.name + ": UDP port " + std::to_string(vxlan.port) +
                             " of this machine, which links between machines need, is in use");
    }
  }

  void MakeBridge(const Link& link, size_t number) {
    record.Write({{"object", "link"}, {"name", link.name}});
    Space& fabric = SpaceOf(kFabricNode);
    const std::string bridge = "br" + std::to_string(number);
    int mtu = 65535;
    for (const Endpoint& end : link.endpoints) mtu = std::min(mtu, InterfaceOf(end).mtu);
    fabric.netlink.CreateBridge(bridge, mtu);
    const int master = fabric.netlink.IfIndex(bridge);
    for (size_t i = 0; i < link.endpoints.size(); ++i) {
      const bool is_remote = FindRemote(topology, link.endpoints[i].node) != nullptr;
      const int port = is_remote ? 0 : MakeFabricPort(link, number, i);
      const bool emulated = IsEmulated(topology, link, i);
      fabric.netlink.SetMaster(emulated ? MakeBridgePort(link, number, i) : port, master);
    }
    fabric.netlink.SetUp(master, true);
  }

  // Makes a veth pair in the fabric, between the bridge and the engine; the engine forwards between
  // this pair and the endpoint's port. Returns the ifindex of the bridge's end.
  int MakeBridgePort(const Link& link, size_t number, size_t endpoint) {
    Space& fabric = SpaceOf(kFabricNode);
    const int mtu = InterfaceOf(link.endpoints[endpoint]).mtu;
    const int inner = next_ifindex++, outer = next_ifindex++;
    const std::string inner_name = FabricInnerPort(number, endpoint);
    const std::string outer_name = FabricBridgePort(number, endpoint);
    fabric.netlink.CreateVethPair({-1, inner_name, std::nullopt, mtu, inner},
                                  {-1, outer_name, std::nullopt, mtu, outer});
    for (const std::string& name : {inner_name, outer_name}) {
      sys::DisableOffloads(fabric.fd.get(), name, sys::Offloads::kAll);
    }
    fabric.netlink.SetUp(inner, true);
    fabric.netlink.SetUp(outer, true);
    return outer;
  }

  void FinishNode(const Node& node) {
    Space& space = SpaceOf(node.name);
    for (const Interface& interface : node.interfaces) {
      const int ifindex = IfIndexOf({node.name, interface.name});
      if (node.data_plane->layout.addresses_on_interfaces) {
        for (const wire::IpPrefix& address : interface.addresses) {
          AddAddress(space, ifindex, address);
        }
      }
      // Qdiscs count, lose and delay each packet separately, so that no node may send super-frames.
      if (impaired && node.data_plane->layout.keeps_offloads) {
        sys::DisableOffloads(space.fd.get(), interface.name, sys::Offloads::kSegmentation);
      }
      // In a lab that uses no IPv6, IPv6 is enabled only in the namespaces of containers: the
      // interface gets no link-local address there.
      if (!ipv6 && !node.container.empty()) space.netlink.SetIpv6LinkLocal(ifindex, false);
      space.netlink.SetUp(ifindex, true);
    }
    if (node.data_plane->layout.addresses_on_interfaces) {
      const int loopback = space.netlink.IfIndex("lo");
      for (const wire::IpPrefix& address : node.loopback) {
        space.netlink.AddAddress(loopback, address);
      }
    }
    if (!node.program_addresses.empty()) MakeProgramDevice(node, space);
  }

  static void AddAddress(Space& space, int ifindex, const wire::IpPrefix& address) {
    try {
      space.netlink.AddAddress(ifindex, address);
    } catch (const SystemError& error) {
      // ns-3 gives the interface the link-local address that the kernel has already created from
      // the MAC address.
      if (error.error_number() != EEXIST || !wire::IsLinkLocal(address.address)) throw;
    }
  }

  // Makes the TUN device through which the node's programs send all packets to the simulator, which
  // is the node's IP layer.
  void MakeProgramDevice(const Node& node, Space& space) {
    record.Write({{"object", "tun"}, {"name", kProgramDevice}, {"namespace", space.name}});
    sys::CreateTun(space.fd.get(), kProgramDevice);
    sys::WriteSysctls(space.fd.get(), ProgramDeviceSysctls(kProgramDevice, ipv6), true);
    const int ifindex = space.netlink.IfIndex(kProgramDevice);
    if (ipv6) space.netlink.SetIpv6LinkLocal(ifindex, false);
    int mtu = 65535;
    for (const Interface& interface : node.interfaces) mtu = std::min(mtu, interface.mtu);
    space.netlink.SetMtu(ifindex, node.interfaces.empty() ? 1500 : mtu);
    std::set<wire::Family> families;
    for (const wire::IpPrefix& address : node.program_addresses) {
      AddAddress(space, ifindex, address);
      families.insert(address.address.family);
    }
    space.netlink.SetUp(ifindex, true);
    for (const wire::Family family : families) {
      wire::IpPrefix everywhere;
      everywhere.address.family = family;
      space.netlink.AddRoute(everywhere, std::nullopt, ifindex);
    }
  }

  void Impair(const Link& link) {
    if (link.emulator != Emulator::kKernel) return;
    for (size_t i = 0; i < link.specs.size(); ++i) {
      if (link.specs[i].IsPlainWire()) continue;
      const Endpoint& end = link.endpoints[i];
      Impairment::FromSpec(link.specs[i], InterfaceOf(end).mtu, "link " + link.name)
          .Install(SpaceOf(end.node).netlink, IfIndexOf(end));
    }
  }

  const Topology& topology;
  const std::string record_root;
  const uint32_t owner_uid;
  sys::WirelessCards& cards;
  const bool ipv6;
  const bool impaired;
  sys::OwnEntry record;
  std::map<std::string, Space> spaces;
  int next_ifindex = 10;  // the next ifindex, unique in the lab (sys::VethEnd::ifindex)
  bool removed = false;
};

Lab::Lab(Topology topology, const LabOptions& options) : topology_(std::move(topology)) {
  Validate(topology_);
  CheckPrivilege(topology_.name);
  CheckImpairments(topology_);
  CheckPhysicals(topology_, options.record_root, *options.cards);
  state_ = std::make_unique<State>(topology_, options);
  try {
    state_->Build();
  } catch (...) {
    RemoveQuietly();
    throw;
  }
}

Lab::~Lab() { RemoveQuietly(); }

void Lab::RemoveQuietly() {
  try {
    Remove();
  } catch (const std::exception&) {
    // The record is kept, so that `viaduct clean` can remove the remaining objects.
  }
}

std::vector<std::string> Lab::Remove() {
  if (state_->removed) return {};
  std::vector<std::string> problems = state_->Remove();
  state_->removed = problems.empty();
  return problems;
}

const Node& Lab::GetNode(const std::string& node) const { return state_->NodeOf(node); }
const Interface& Lab::GetInterface(const Endpoint& endpoint) const {
  return state_->InterfaceOf(endpoint);
}

int Lab::NamespaceFd(const std::string& node) const {
  GetNode(node);
  return state_->SpaceOf(node).fd.get();
}

std::string Lab::HostsPath() const { return state_->record.folder / kHostsFile; }

std::string Lab::NamespacePath(const std::string& node) const {
  GetNode(node);
  return sys::NamespacePath(NamespaceName(topology_.name, node));
}

sys::Netlink& Lab::NetlinkOf(const std::string& node) {
  GetNode(node);
  return state_->SpaceOf(node).netlink;
}

int Lab::FabricFd() const { return state_->SpaceOf(kFabricNode).fd.get(); }
sys::Netlink& Lab::FabricNetlink() { return state_->SpaceOf(kFabricNode).netlink; }

void Lab::RecordEngine(int pid) {
  state_->record.Write(
      {{"object", "engine"}, {"pid", pid}, {"start_time", sys::ProcessStartTime(pid)}});
}

void Lab::RecordSimulator(const SimulatorHistory& history) {
  nlohmann::json line = history;
  line["object"] = "simulator";
  state_->record.Write(line);
}

void Lab::RecordForwarder(const ForwarderHistory& history) {
  nlohmann::json line = history;
  line["object"] = "forwarder";
  state_->record.Write(line);
}

int Lab::IfIndex(const Endpoint& endpoint) {
  state_->InterfaceOf(endpoint);
  // The ifindex is not cached, because the interface may have been removed and created again.
  return NetlinkOf(endpoint.node).IfIndex(endpoint.interface);
}

void Lab::SetLinkUp(const Endpoint& endpoint, bool up) {
  NetlinkOf(endpoint.node).SetUp(state_->IfIndexOf(endpoint), up);
}

void Lab::SetEndsUp(const std::vector<Endpoint>& ends, bool up) {
  const bool is_up = std::ranges::all_of(ends, [&](const Endpoint& end) {
    return NetlinkOf(end.node).FindLink(state_->IfIndexOf(end)).value_or(sys::LinkInfo{}).up;
  });
  if (!up || is_up || ends.size() < 2) {
    for (const Endpoint& end : ends) SetLinkUp(end, up);
    return;
  }
  for (const Endpoint& end : ends) SetLinkUp(end, true);
  // The time limit is the maximum delay of the event that sets the link up. While other processes
  // create and remove links, the kernel reports carriers a second late or more
  // (net/core/link_watch.c).
  const Instant end_of_wait = MonotonicClock::Now() + Duration::Milliseconds(300);
  for (const Endpoint& end : ends) state_->AwaitCarrierOf(end, end_of_wait);
  for (const Endpoint& end : ends) {
    NetlinkOf(end.node).AwaitAddresses(
        state_->IfIndexOf(end),
        std::max(end_of_wait - MonotonicClock::Now(), Duration::Milliseconds(1)));
  }
  for (const Endpoint& end : ends) {
    NetlinkOf(end.node).ForgetUnresolvedNeighbours(state_->IfIndexOf(end));
  }
}

bool Lab::HasQdisc(const Endpoint& endpoint) const {
  GetInterface(endpoint);
  return lab::HasQdisc(topology_, endpoint);
}

}  // namespace viaduct::lab
