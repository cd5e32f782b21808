#include "scenario/nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>

#include "base/wire/address_scope.h"
#include "scenario/binding.h"
#include "scenario/remotes.h"
#include "sys/machine/container.h"

namespace viaduct::scenario {
namespace {

// Parses the stack: returns nothing for "ns3", "" for "kernel", "6.12" for "kernel:6.12".
std::optional<std::string> ReadStack(const Section& section) {
  const std::string text = section.Text("stack");
  if (text == "ns3") return std::nullopt;
  if (text == "kernel") return "";
  const std::string version = text.starts_with("kernel:") ? text.substr(strlen("kernel:")) : "";
  if (version.empty() ||
      version.find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ.+~_-/") != std::string::npos) {
    section.Fail(
        "stack",
        fmt::format("'{}' is not one of ns3, kernel, kernel:VERSION (6.12), kernel:FILE", text));
  }
  return version;
}

// The data plane of a node, or its forwarding program; the member that does not apply is empty.
struct Plane {
  const fib::DataPlane* plane = nullptr;
  std::string program;
};

Plane ReadPlane(const Section& section) {
  if (!section.Find("data_plane")->IsMap()) {
    return {fib::FindDataPlane(section.Text("data_plane")), ""};
  }
  const Section map = section.Inner("data_plane");
  map.Need({"program"});
  std::string program = map.Text("program");
  if (forward::IsProgramLibrary(program)) return {nullptr, program};
  // Checks that a built-in program has this name; loads no code of the user.
  map.Located("program", [&] { return &forward::LoadProgram(program); });
  return {nullptr, program};
}

class NodeReader {
 public:
  NodeReader(const Section& file, std::string_view protocol)
      : file_(file), protocol_(protocol), kernel_(ReadStack(file)) {}

  std::vector<NodeSettings> Read() {
    const Value* value = file_.Find("nodes");
    if (!value) Fail(file_.value(), "nodes: missing; for example: nodes: 5");
    if (value->IsScalar()) {
      Count(file_.Integer("nodes", 1, kMaxNodes));
    } else if (value->IsList()) {
      for (const Value& item : value->items) {
        if (!item.IsScalar()) Fail(item, "nodes: " + item.Describe() + " where a name is expected");
        Add(item.text, item);
      }
    } else {
      ReadMap(*value);
    }
    if (nodes_.empty()) Fail(*value, "nodes: there are no nodes; add at least one");
    NumberRemotes(*value);
    if (file_.Has("data_plane")) SetPlanes(ReadPlane(file_));
    return std::move(nodes_);
  }

 private:
  void Count(int64_t count) {
    for (int64_t i = 0; i < count; ++i) Add("n" + std::to_string(i), file_.value());
  }

  NodeSettings& Add(const std::string& name, const Value& at) {
    if (!IsName(name, 32)) {
      Fail(at,
           fmt::format(
               "nodes: '{}' is not a valid name (letters, digits, - and _; at most 32 characters)",
               name));
    }
    if (name == lab::kFabricNode) {
      Fail(at, fmt::format("nodes: '{}' is reserved for the lab; choose another name", name));
    }
    for (const NodeSettings& node : nodes_) {
      if (node.name == name) Fail(at, fmt::format("nodes: '{}' is given twice", name));
    }
    if (static_cast<int64_t>(nodes_.size()) == kMaxNodes) {
      Fail(at, fmt::format("nodes: more than {} nodes are not supported", kMaxNodes));
    }
    nodes_.emplace_back();
    nodes_.back().name = name;
    nodes_.back().kernel = kernel_;
    return nodes_.back();
  }

  void ReadMap(const Value& map) {
    const Section nodes(map, "nodes", "nodes", true);
    if (const Value* count = map.Find("count"); count && count->IsScalar()) {
      Count(nodes.Integer("count", 1, kMaxNodes));
    }
    for (const auto& [name, value] : map.members) {
      if (name == "count" && value.IsScalar()) continue;
      const auto known =
          std::find_if(nodes_.begin(), nodes_.end(),
                       [&name = name](const NodeSettings& node) { return node.name == name; });
      NodeSettings& node = known != nodes_.end() ? *known : Add(name, value);
      ReadSettings(Section(value, "nodes.NAME", "nodes." + name), node);
    }
  }

  // Sets the data plane of nodes for which the file sets none. The kernel handles a host's packets
  // in any case.
  void SetPlanes(const Plane& read) {
    for (NodeSettings& node : nodes_) {
      if (node.data_plane != nullptr || !node.program.empty()) continue;
      if (read.plane == nullptr) {
        if (!node.host) node.program = read.program;
      } else if (!node.host || read.plane->Unavailable(fib::Feature::kKernelStack).empty()) {
        node.data_plane = read.plane;
      }
    }
  }

  void ReadRemote(const Section& section, NodeSettings& node) const {
    if (!section.Has("remote")) {
      if (section.Has("vni")) section.Fail("vni", "only a remote node has a VNI; add remote: true");
      return;
    }
    const std::string text = section.Text("remote");
    RemoteAccess& remote = node.remote.emplace();
    remote.anyone = text == "any";
    if (text != "true" && text != "any") {
      remote.address = section.Located("remote", [&] { return wire::IpAddress::Parse(text); });
      const wire::IpAddress& address = *remote.address;
      if (address.IsMulticast() || address.IsUnspecified()) {
        section.Fail("remote", text + " is not the address of one host");
      }
      if (wire::IsLinkLocal(address)) {
        section.Fail(
            "remote",
            text +
                " is a link-local address, which does not identify the link; use another address");
      }
    }
    if (section.Has("vni")) remote.vni = section.Integer("vni", 1, 0xffffff);
    if (!section.Has("host")) node.host = IsRemoteHost(protocol_);
    node.kernel.reset();
  }

  static void ReadContainer(const Section& section, NodeSettings& node) {
    if (!section.Has("container")) return;
    const std::string& name = node.container;
    if (name.empty() || name.size() > 255 || name.starts_with('-') || name.starts_with('.') ||
        name.find_first_of(std::string("/\0", 2)) != std::string::npos) {
      section.Fail("container",
                   fmt::format("'{}' is not a valid container name, `ip netns` name or pid", name));
    }
    if (section.Has("host") && !node.host)
      section.Fail("host", "a container is always a host; remove host: false");
    if (node.remote)
      section.Fail("container",
                   "not supported for a remote node, which is on another machine; remove the key "
                   "container or remote");
    if (!node.sysctls.empty())
      section.Fail("sysctls",
                   "not supported for a container, which keeps its own kernel settings; remove the "
                   "key sysctls");
    if (!node.physical_interfaces.empty()) {
      section.Fail("interfaces",
                   "not supported for a container, which cannot get interfaces of this machine; "
                   "remove the key interfaces");
    }
    if (node.data_plane != nullptr) {
      const std::string_view reason = node.data_plane->Unavailable(fib::Feature::kContainer);
      if (!reason.empty()) section.Fail("data_plane", std::string(reason));
    }
    node.host = true;
    node.data_plane = &fib::kKernelPlane;
    node.kernel.reset();
  }

  void NumberRemotes(const Value& at) {
    std::map<int64_t, std::string> taken;
    for (const NodeSettings& node : nodes_) {
      if (!node.remote || node.remote->vni == 0) continue;
      const auto [other, is_new] = taken.emplace(node.remote->vni, node.name);
      if (is_new) continue;
      Fail(at, fmt::format("nodes.{}.vni: {} is already the VNI of node {}", node.name,
                           node.remote->vni, other->second));
    }
    int64_t next = 1;
    for (NodeSettings& node : nodes_) {
      if (!node.remote || node.remote->vni != 0) continue;
      while (!taken.emplace(next, node.name).second) ++next;
      node.remote->vni = next;
    }
  }

  void ReadSettings(const Section& section, NodeSettings& node) const {
    ReadMembers(section, node);
    if (section.Has("stack")) node.kernel = ReadStack(section);
    ReadRemote(section, node);
    if (section.Has("gateway") && !node.host)
      section.Fail("gateway",
                   "only a host has a gateway; remove the key gateway, or set host: true");
    if (section.Has("data_plane")) {
      Plane read = ReadPlane(section);
      node.data_plane = read.plane;
      node.program = std::move(read.program);
      const fib::DataPlane& plane = read.plane ? *read.plane : fib::kUserspaceProgram;
      const std::string_view reason = plane.Unavailable(fib::Feature::kKernelStack);
      if (node.host && !reason.empty()) section.Fail("data_plane", std::string(reason));
      if (IsRemoteRouter(node) && !plane.in_simulator()) {
        section.Fail("data_plane",
                     "the client of this remote node sends and receives through the simulator; "
                     "remove data_plane");
      }
    }
    ReadContainer(section, node);
    node.routed_by_programs = section.Has("routing") && section.Text("routing") == "none";
    if (section.Has("routing") && node.host) {
      section.Fail("routing", "a host runs no routing protocol; remove the key routing");
    }
  }

  const Section& file_;
  const std::string_view protocol_;
  std::optional<std::string> kernel_;  // the default for nodes
  std::vector<NodeSettings> nodes_;
};

}  // namespace

std::string RemoteAccess::ToString() const {
  if (address) return address->ToString();
  return anyone ? "any" : "true";
}

void ResolveContainers(Scenario* scenario) {
  for (NodeSettings& node : scenario->nodes) {
    if (node.container.empty()) continue;
    node.container =
        sys::ResolveContainer(node.container, fmt::format("nodes.{}.container:", node.name));
  }
}

std::vector<NodeSettings> ReadNodes(const Section& file, std::string_view protocol) {
  return NodeReader(file, protocol).Read();
}

}  // namespace viaduct::scenario
