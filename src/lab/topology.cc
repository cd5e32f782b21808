#include "lab/topology.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>

#include "base/error.h"
#include "lab/builder.h"
#include "lab/client.h"
#include "lab/names.h"

namespace viaduct::lab {
namespace {

constexpr size_t kInterfaceNameMax = 15;  // IFNAMSIZ - 1 characters
constexpr size_t kNameMax = 100;          // LAB.NODE is a file name: 255 at most
constexpr size_t kLabNameMax = 32;        // part of the addresses of sockets: 107 at most

bool IsNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_';
}

void CheckName(const std::string& what, const std::string& name, size_t longest = kNameMax) {
  if (!name.empty() && name.size() <= longest && name[0] != '-' &&
      std::all_of(name.begin(), name.end(), IsNameCharacter)) {
    return;
  }
  throw UsageError(what + " \"" + name + "\": a name consists of 1 to " + std::to_string(longest) +
                   " letters, digits, \"-\" and \"_\", and does not begin with \"-\"");
}

void CheckInterfaceName(const std::string& where, const std::string& name) {
  const bool bad_character = std::any_of(name.begin(), name.end(), [](unsigned char c) {
    return c <= ' ' || c == '/' || c == ':' || c == '%' || c >= 0x7F;
  });
  if (name.empty() || name.size() > kInterfaceNameMax || bad_character || name == "." ||
      name == "..") {
    throw UsageError(
        where + ": interface name \"" + name +
        "\": expected 1 to 15 printable characters without \"/\", \":\", \"%\" and spaces");
  }
}

void CheckAddresses(const std::string& where, const Interface& interface) {
  for (const wire::IpPrefix& prefix : interface.addresses) {
    if (prefix.address.IsUnspecified() || prefix.address.IsMulticast()) {
      throw UsageError(where + ": " + prefix.ToString() + " is not an interface address");
    }
    if (prefix.address.family == wire::Family::kIpv6 && interface.mtu < 1280) {
      throw UsageError(where + ": IPv6 needs an MTU of at least 1280, not " +
                       std::to_string(interface.mtu));
    }
  }
}

void CheckInterface(const std::string& node, const Interface& interface) {
  const std::string where = "node " + node + ", interface " + interface.name;
  CheckInterfaceName("node " + node, interface.name);
  if (interface.name == "lo" || interface.name == kProgramDevice) {
    throw UsageError(where +
                     ": this name is reserved for the lab; choose another name, such as eth0");
  }
  if (interface.mtu < 68 || interface.mtu > 65535) {
    throw UsageError(where + ": MTU " + std::to_string(interface.mtu) + " is not in 68..65535");
  }
  if (interface.physical) CheckInterfaceName(where, *interface.physical);
  // The MAC address of a physical interface may be all zero: in that case the interface keeps its
  // own address.
  if (interface.mac.IsMulticast() || (interface.mac == wire::MacAddress() && !interface.physical)) {
    throw UsageError(where + ": " + interface.mac.ToString() + " is not a unicast MAC address");
  }
  CheckAddresses(where, interface);
}

void CheckNodeName(const std::string& name) {
  CheckName("node", name);
  if (name != kFabricNode) return;
  throw UsageError(
      fmt::format("node \"{}\": this name is reserved for the lab; choose another name", name));
}

void CheckRemote(const Topology& topology, const Remote& remote) {
  remote.programs_of.empty() ? CheckNodeName(remote.name) : CheckClient(topology, remote);
  CheckInterface(remote.name, remote.interface);
  if (remote.interface.physical) {
    throw UsageError("node " + remote.name + ": a remote node cannot have a physical interface");
  }
}

// Throws UsageError if the node, a container, would need other changes than added interfaces.
void CheckContainer(const Node& node) {
  const std::string_view reason = node.data_plane->Unavailable(fib::Feature::kContainer);
  if (!reason.empty()) throw UsageError(fmt::format("node {}: {}", node.name, reason));
  const std::string what = "node " + node.name + ": a node that is a container ";
  if (!node.sysctls.empty())
    throw UsageError(what + "cannot have sysctls: the container keeps its kernel settings");
  if (!node.loopback.empty())
    throw UsageError(what +
                     "cannot have loopback addresses: the container keeps its loopback interface");
  for (const Interface& interface : node.interfaces) {
    if (interface.physical)
      throw UsageError(what + "cannot have physical interfaces of the machine");
  }
}

void CheckNode(const Node& node, std::set<std::string>* physicals) {
  CheckNodeName(node.name);
  std::set<std::string> names;
  for (const Interface& interface : node.interfaces) {
    CheckInterface(node.name, interface);
    if (!names.insert(interface.name).second) {
      throw UsageError("node " + node.name + ": two interfaces have the name " + interface.name);
    }
    if (interface.physical && !physicals->insert(*interface.physical).second) {
      throw UsageError("physical interface " + *interface.physical + " is used twice");
    }
  }
  if (!node.container.empty()) CheckContainer(node);
  CheckLoopbacks(node);
  if (node.program.has_value() != (node.data_plane->port_frames == fib::PortFrames::kOfProtocol)) {
    throw UsageError("node " + node.name +
                     ": a forwarding program and data plane `program` can only be used together");
  }
  if (node.program) node.program->Check();
  const std::string_view reason = node.data_plane->Unavailable(fib::Feature::kProgramDevice);
  if (!node.program_addresses.empty() && !reason.empty()) {
    throw UsageError("node " + node.name + ": " + std::string(reason));
  }
}

// Finds the interfaces of endpoints, and assigns each to one link.
class Directory {
 public:
  explicit Directory(const Topology& topology) {
    for (const Node& node : topology.nodes) {
      for (const Interface& interface : node.interfaces) {
        interfaces_[{node.name, interface.name}] = &interface;
      }
    }
    for (const Remote& remote : topology.remotes) {
      interfaces_[{remote.name, remote.interface.name}] = &remote.interface;
    }
  }

  // Assigns an endpoint's interface to a link and returns it. Throws UsageError if there is no such
  // interface or another link has it.
  const Interface& Take(const std::string& link, const Endpoint& endpoint) {
    const auto found = interfaces_.find({endpoint.node, endpoint.interface});
    const std::string what = "interface " + endpoint.interface + " of node " + endpoint.node;
    if (found == interfaces_.end()) {
      throw UsageError("link " + link + ": missing " + what);
    }
    if (found->second->physical) {
      throw UsageError("link " + link + ": " + what + " is physical interface " +
                       *found->second->physical + ", whose link is outside the lab");
    }
    const auto [user, fresh] = users_.emplace(found->first, link);
    if (!fresh) {
      throw UsageError("link " + link + ": " + what + " is already on link " + user->second);
    }
    return *found->second;
  }

  void CheckAllTaken() const {
    for (const auto& [name, interface] : interfaces_) {
      if (!interface->physical && users_.count(name) == 0) {
        throw UsageError("interface " + name.second + " of node " + name.first +
                         " is neither on a link nor a physical interface");
      }
    }
  }

 private:
  using Name = std::pair<std::string, std::string>;
  std::map<Name, const Interface*> interfaces_;
  std::map<Name, std::string> users_;
};

void CheckLinkShape(const Link& link) {
  CheckName("link", link.name);
  if (link.kind == Link::Kind::kPair && link.endpoints.size() != 2) {
    throw UsageError("link " + link.name + ": a link of kind pair needs two endpoints, not " +
                     std::to_string(link.endpoints.size()));
  }
  const bool is_tunnel = link.kind == Link::Kind::kTunnel;
  if (is_tunnel != link.tunnel.has_value() || (is_tunnel && link.endpoints.size() != 1)) {
    throw UsageError("link " + link.name +
                     ": a link to another machine needs a tunnel and exactly one endpoint");
  }
  if (link.endpoints.empty()) throw UsageError("link " + link.name + ": the link has no endpoints");
  if (!link.specs.empty() && link.specs.size() != link.endpoints.size()) {
    throw UsageError("link " + link.name + ": " + std::to_string(link.specs.size()) +
                     " SPECs for " + std::to_string(link.endpoints.size()) + " endpoints");
  }
  if (!link.classes.empty() && link.emulator == Emulator::kKernel) {
    throw UsageError(
        "link " + link.name +
        ": the kernel's qdiscs do not support classes of packets; use emulator: engine");
  }
  if (!link.classes.empty() && link.specs.empty()) {
    throw UsageError("link " + link.name + ": a link with classes of packets also needs SPECs");
  }
  if (link.live && (link.specs.empty() || link.emulator == Emulator::kKernel)) {
    throw UsageError(
        "link " + link.name +
        ": only SPECs that the path engine emulates can be changed while the lab runs");
  }
}

void CheckLink(const Link& link, Directory* directory) {
  CheckLinkShape(link);
  std::set<wire::IpAddress> addresses;
  std::set<wire::MacAddress> macs;
  for (const Endpoint& endpoint : link.endpoints) {
    const Interface& interface = directory->Take(link.name, endpoint);
    if (!macs.insert(interface.mac).second) {
      throw UsageError("link " + link.name + ": MAC address " + interface.mac.ToString() +
                       " is used twice");
    }
    for (const wire::IpPrefix& prefix : interface.addresses) {
      if (!addresses.insert(prefix.address).second) {
        throw UsageError("link " + link.name + ": address " + prefix.address.ToString() +
                         " is used twice");
      }
    }
  }
}

}  // namespace

const char* EmulatorName(Emulator emulator) {
  return emulator == Emulator::kEngine ? "engine" : "kernel";
}

Emulator ParseEmulator(const std::string& text) {
  if (text == "engine") return Emulator::kEngine;
  if (text == "kernel") return Emulator::kKernel;
  throw UsageError("emulator: expected engine or kernel, not \"" + text + "\"");
}

bool Link::IsPlainWire() const {
  return classes.empty() && std::all_of(specs.begin(), specs.end(),
                                        [](const path::Spec& spec) { return spec.IsPlainWire(); });
}

const Remote* FindRemote(const Topology& topology, const std::string& name) {
  const auto found = std::ranges::find(topology.remotes, name, &Remote::name);
  return found == topology.remotes.end() ? nullptr : &*found;
}

bool HasRemote(const Topology& topology, const Link& link) {
  return std::ranges::any_of(link.endpoints, [&](const Endpoint& end) {
    return FindRemote(topology, end.node) != nullptr;
  });
}

void CheckLabName(const std::string& name) { CheckName("lab", name, kLabNameMax); }

void Validate(const Topology& topology) {
  CheckLabName(topology.name);
  if (topology.nodes.empty()) throw UsageError("lab " + topology.name + ": the lab has no nodes");
  std::set<std::string> nodes, links, physicals;
  for (const Node& node : topology.nodes) {
    CheckNode(node, &physicals);
    if (!nodes.insert(node.name).second) throw UsageError("two nodes have the name " + node.name);
  }
  for (const Remote& remote : topology.remotes) {
    CheckRemote(topology, remote);
    if (!nodes.insert(remote.name).second)
      throw UsageError("two nodes have the name " + remote.name);
  }
  for (const OtherNode& other : topology.others) CheckNodeName(other.name);
  Directory directory(topology);
  for (const Link& link : topology.links) {
    CheckLink(link, &directory);
    if (HasRemote(topology, link) && link.emulator == Emulator::kKernel && !link.IsPlainWire()) {
      throw UsageError("link " + link.name +
                       ": the end of a remote node has no interface for the kernel's qdiscs; use "
                       "emulator: engine");
    }
    if (!links.insert(link.name).second) throw UsageError("two links have the name " + link.name);
  }
  directory.CheckAllTaken();
}

}  // namespace viaduct::lab
