#include "lab/topology.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <set>
#include <string_view>

#include "base/error.h"
#include "base/json_text.h"
#include "lab/builder.h"
#include "lab/client.h"
#include "lab/names.h"
#include "wire/vxlan.h"

namespace viaduct::lab {
namespace {

constexpr size_t kInterfaceNameMax = 15;  // IFNAMSIZ - 1
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
  throw UsageError(what + " \"" + name + "\": a name is 1 to " + std::to_string(longest) +
                   " letters, digits, \"-\" and \"_\", and does not begin with \"-\"");
}

void CheckInterfaceName(const std::string& where, const std::string& name) {
  const bool bad_character = std::any_of(name.begin(), name.end(), [](unsigned char c) {
    return c <= ' ' || c == '/' || c == ':' || c == '%' || c >= 0x7F;
  });
  if (name.empty() || name.size() > kInterfaceNameMax || bad_character || name == "." ||
      name == "..") {
    throw UsageError(where + ": interface name \"" + name +
                     "\": 1 to 15 printable characters without \"/\", \":\", \"%\" and spaces");
  }
}

void CheckAddresses(const std::string& where, const Interface& interface) {
  for (const wire::IpPrefix& prefix : interface.addresses) {
    if (prefix.address.IsUnspecified() || prefix.address.IsMulticast()) {
      throw UsageError(where + ": " + prefix.ToString() + " is not an interface's address");
    }
    if (prefix.address.family == wire::Family::kIpv6 && interface.mtu < 1280) {
      throw UsageError(where + ": IPv6 needs an MTU of 1280 at least, not " +
                       std::to_string(interface.mtu));
    }
  }
}

void CheckInterface(const std::string& node, const Interface& interface) {
  const std::string where = "node " + node + ", interface " + interface.name;
  CheckInterfaceName("node " + node, interface.name);
  if (interface.name == "lo" || interface.name == kProgramDevice) {
    throw UsageError(where + ": this name is reserved for the lab; call it eth0");
  }
  if (interface.mtu < 68 || interface.mtu > 65535) {
    throw UsageError(where + ": MTU " + std::to_string(interface.mtu) + " is not in 68..65535");
  }
  if (interface.physical) CheckInterfaceName(where, *interface.physical);
  // A physical interface may keep its own MAC address: all zero.
  if (interface.mac.IsMulticast() || (interface.mac == wire::MacAddress() && !interface.physical)) {
    throw UsageError(where + ": " + interface.mac.ToString() + " is not a station's MAC address");
  }
  CheckAddresses(where, interface);
}

void CheckNodeName(const std::string& name) {
  CheckName("node", name);
  if (name != kHubNode) return;
  throw UsageError("node \"hub\": this name is reserved for the lab; choose another");
}

void CheckRemote(const Topology& topology, const Remote& remote) {
  remote.programs_of.empty() ? CheckNodeName(remote.name) : CheckClient(topology, remote);
  CheckInterface(remote.name, remote.interface);
  if (remote.interface.physical) {
    throw UsageError("node " + remote.name + ": a remote node has no physical interface");
  }
}

// What is there already stays as it is.
void CheckContainer(const Node& node) {
  const std::string what = "node " + node.name + ": a container ";
  if (node.data_plane != &fib::kKernelPlane) {
    throw UsageError(what + "has a kernel, and no other data plane");
  }
  if (!node.sysctls.empty()) throw UsageError(what + "keeps its kernel settings");
  if (!node.loopback.empty()) throw UsageError(what + "keeps its loopback interface");
  for (const Interface& interface : node.interfaces) {
    if (interface.physical) throw UsageError(what + "takes no interfaces of the machine");
  }
}

void CheckNode(const Node& node, std::set<std::string>* physicals) {
  CheckNodeName(node.name);
  std::set<std::string> names;
  for (const Interface& interface : node.interfaces) {
    CheckInterface(node.name, interface);
    if (!names.insert(interface.name).second) {
      throw UsageError("node " + node.name + ": two interfaces are called " + interface.name);
    }
    if (interface.physical && !physicals->insert(*interface.physical).second) {
      throw UsageError("physical interface " + *interface.physical + " is used twice");
    }
  }
  if (!node.container.empty()) CheckContainer(node);
  CheckLoopbacks(node);
  if (node.program.has_value() != (node.data_plane == &fib::kUserspaceProgram)) {
    throw UsageError("node " + node.name + ": a forwarding program needs the data plane program");
  }
  if (node.program) node.program->Check();
  const std::string_view why_not = node.data_plane->WhyNot(fib::Feature::kProgramDevice);
  if (!node.program_addresses.empty() && !why_not.empty()) {
    throw UsageError("node " + node.name + ": " + std::string(why_not));
  }
}

// Finds the interface of an endpoint.
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

  // Throws if there is no such interface or another link has it.
  const Interface& Take(const std::string& link, const Endpoint& endpoint) {
    const auto found = interfaces_.find({endpoint.node, endpoint.interface});
    const std::string what = "interface " + endpoint.interface + " of node " + endpoint.node;
    if (found == interfaces_.end()) {
      throw UsageError("link " + link + ": there is no " + what);
    }
    if (found->second->physical) {
      throw UsageError("link " + link + ": " + what + " is physical interface " +
                       *found->second->physical + ", its link is outside");
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
                         " is on no link and not physical");
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
    throw UsageError("link " + link.name + ": a pair has two endpoints, not " +
                     std::to_string(link.endpoints.size()));
  }
  const bool is_tunnel = link.kind == Link::Kind::kTunnel;
  if (is_tunnel != link.tunnel.has_value() || (is_tunnel && link.endpoints.size() != 1)) {
    throw UsageError("link " + link.name +
                     ": a link to another host has a tunnel and one endpoint");
  }
  if (link.endpoints.empty()) throw UsageError("link " + link.name + ": it has no endpoints");
  if (!link.specs.empty() && link.specs.size() != link.endpoints.size()) {
    throw UsageError("link " + link.name + ": " + std::to_string(link.specs.size()) +
                     " SPECs for " + std::to_string(link.endpoints.size()) + " endpoints");
  }
  if (link.live && (link.specs.empty() || link.emulator == Emulator::kKernel)) {
    throw UsageError("link " + link.name + ": only SPECs that the engine emulates can change");
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

// Reads one JSON object strictly: what is missing, unknown or of the wrong type is a UsageError
// that says where ("topology.nodes[2].interfaces[0].mtu").
class ObjectReader {
 public:
  ObjectReader(const nlohmann::json& json, std::string where,
               std::initializer_list<std::string_view> keys)
      : json_(json), where_(std::move(where)) {
    if (!json.is_object()) throw UsageError(where_ + ": an object is needed");
    for (const auto& item : json.items()) {
      if (std::find(keys.begin(), keys.end(), item.key()) == keys.end()) {
        throw UsageError(where_ + ": unknown key \"" + item.key() + "\"");
      }
    }
  }

  bool Has(const char* key) const { return json_.contains(key); }

  template <class T>
  T Get(const char* key) const {
    const nlohmann::json& value = At(key);
    try {
      return value.get<T>();
    } catch (const nlohmann::json::exception&) {
      throw UsageError(Where(key) + ": a value of another type is needed, not " + JsonText(value));
    }
  }

  int GetInteger(const char* key, int low, int high) const {
    const nlohmann::json& value = At(key);
    if (!value.is_number_integer() || value < low || value > high) {
      throw UsageError(Where(key) + ": a whole number in " + std::to_string(low) + ".." +
                       std::to_string(high) + " is needed, not " + JsonText(value));
    }
    return value.get<int>();
  }

  const nlohmann::json& Member(const char* key) const { return At(key); }

  // Calls each(element, where) for the elements of a list; an absent list is empty.
  template <class F>
  void ForEach(const char* key, F each) const {
    if (!Has(key)) return;
    const nlohmann::json& list = json_.at(key);
    if (!list.is_array()) throw UsageError(Where(key) + ": a list is needed");
    for (size_t i = 0; i < list.size(); ++i) {
      each(list[i], Where(key) + "[" + std::to_string(i) + "]");
    }
  }

  std::vector<wire::IpPrefix> Prefixes(const char* key) const {
    return Parsed<wire::IpPrefix>(key);
  }
  std::vector<wire::IpAddress> Addresses(const char* key) const {
    return Parsed<wire::IpAddress>(key);
  }

 private:
  template <class T>
  std::vector<T> Parsed(const char* key) const {
    std::vector<T> all;
    ForEach(key, [&](const nlohmann::json& element, const std::string& where) {
      if (!element.is_string()) throw UsageError(where + ": an address is needed");
      all.push_back(T::Parse(element.get<std::string>()));
    });
    return all;
  }
  std::string Where(const char* key) const { return where_ + "." + key; }
  const nlohmann::json& At(const char* key) const {
    if (!Has(key)) throw UsageError(Where(key) + " is missing");
    return json_.at(key);
  }

  const nlohmann::json& json_;
  std::string where_;
};

Interface ReadInterface(const nlohmann::json& json, const std::string& where) {
  const ObjectReader reader(json, where, {"name", "mac", "addresses", "mtu", "physical"});
  Interface interface;
  interface.name = reader.Get<std::string>("name");
  interface.mac = wire::MacAddress::Parse(reader.Get<std::string>("mac"));
  interface.addresses = reader.Prefixes("addresses");
  if (reader.Has("mtu")) interface.mtu = reader.GetInteger("mtu", 68, 65535);
  if (reader.Has("physical")) interface.physical = reader.Get<std::string>("physical");
  return interface;
}

forward::ProgramDescription ReadProgram(const nlohmann::json& json, const std::string& where) {
  const ObjectReader reader(json, where,
                            {"name", "outcomes", "losses", "filter", "is_promiscuous",
                             "control_type", "table_words", "overhead"});
  using forward::ProgramDescription;
  constexpr auto kMostWords = static_cast<int>(ProgramDescription::kMostTableWords);
  constexpr auto kMostOverhead = static_cast<int>(ProgramDescription::kMostOverhead);
  return {.name = reader.Get<std::string>("name"),
          .outcomes = reader.Get<std::vector<std::string>>("outcomes"),
          .losses = reader.Get<std::vector<std::string>>("losses"),
          .filter = reader.Get<std::string>("filter"),
          .is_promiscuous = reader.Get<bool>("is_promiscuous"),
          .control_type = static_cast<uint16_t>(reader.GetInteger("control_type", 0, 0xffff)),
          .table_words = static_cast<size_t>(reader.GetInteger("table_words", 0, kMostWords)),
          .overhead = static_cast<size_t>(reader.GetInteger("overhead", 0, kMostOverhead))};
}

Node ReadNode(const nlohmann::json& json, const std::string& where) {
  const ObjectReader reader(
      json, where,
      {"name", "data_plane", "program", "interfaces", "program_addresses", "loopback", "sysctls",
       "forwards_ipv4", "forwards_ipv6", "by_hop", "container"});
  Node node;
  node.name = reader.Get<std::string>("name");
  if (reader.Has("data_plane")) {
    const auto text = reader.Get<std::string>("data_plane");
    node.data_plane = fib::FindDataPlane(text);
    if (node.data_plane == nullptr) {
      throw UsageError(where + ".data_plane: " + fib::DataPlaneNames() + ", not " + text);
    }
  }
  if (reader.Has("program")) {
    node.program = ReadProgram(reader.Member("program"), where + ".program");
  }
  reader.ForEach("interfaces", [&](const nlohmann::json& element, const std::string& place) {
    node.interfaces.push_back(ReadInterface(element, place));
  });
  node.program_addresses = reader.Prefixes("program_addresses");
  node.loopback = reader.Prefixes("loopback");
  if (reader.Has("sysctls")) {
    node.sysctls = reader.Get<std::map<std::string, std::string>>("sysctls");
  }
  if (reader.Has("forwards_ipv4")) node.forwards_ipv4 = reader.Get<bool>("forwards_ipv4");
  if (reader.Has("forwards_ipv6")) node.forwards_ipv6 = reader.Get<bool>("forwards_ipv6");
  if (reader.Has("container")) node.container = reader.Get<std::string>("container");
  if (reader.Has("by_hop")) node.by_hop = reader.Get<std::string>("by_hop");
  return node;
}

Remote ReadRemote(const nlohmann::json& json, const std::string& where) {
  const ObjectReader reader(json, where,
                            {"name", "programs_of", "interface", "vni", "address", "anyone"});
  Remote remote;
  if (reader.Has("programs_of")) remote.programs_of = reader.Get<std::string>("programs_of");
  remote.name = reader.Get<std::string>("name");
  remote.interface = ReadInterface(reader.Get<nlohmann::json>("interface"), where + ".interface");
  remote.vni = static_cast<uint32_t>(reader.GetInteger("vni", 1, wire::VxlanHeader::kMostVni));
  if (reader.Has("address")) {
    remote.address = wire::IpAddress::Parse(reader.Get<std::string>("address"));
  }
  if (reader.Has("anyone")) remote.anyone = reader.Get<bool>("anyone");
  return remote;
}

HubAddress ReadHub(const nlohmann::json& json, const std::string& where) {
  const ObjectReader reader(json, where, {"address", "port", "readers", "queue"});
  HubAddress hub;
  hub.address = reader.Get<std::string>("address");
  hub.port = static_cast<uint16_t>(reader.GetInteger("port", 0, 65535));
  if (reader.Has("readers")) hub.readers = reader.GetInteger("readers", 0, 64);
  if (reader.Has("queue")) hub.queue = reader.GetInteger("queue", 256, 1 << 20);
  return hub;
}

constexpr const char* kKinds[] = {"pair", "bridge", "tunnel"};  // in the order of Link::Kind

Tunnel ReadTunnel(const nlohmann::json& json, const std::string& where) {
  const ObjectReader reader(json, where, {"vni", "port", "remote", "end"});
  Tunnel tunnel;
  tunnel.vni = static_cast<uint32_t>(reader.GetInteger("vni", 1, 0xffffff));
  tunnel.port = static_cast<uint16_t>(reader.GetInteger("port", 1024, 65535));
  tunnel.remote = wire::IpAddress::Parse(reader.Get<std::string>("remote"));
  if (tunnel.remote.IsUnspecified() || tunnel.remote.IsMulticast()) {
    throw UsageError(where + ".remote: " + tunnel.remote.ToString() + " is not a host's address");
  }
  tunnel.end = reader.GetInteger("end", 0, 1);
  return tunnel;
}

Link ReadLink(const nlohmann::json& json, const std::string& where) {
  const ObjectReader reader(json, where,
                            {"name", "kind", "endpoints", "specs", "emulator", "live", "tunnel"});
  Link link;
  link.name = reader.Get<std::string>("name");
  const auto kind = reader.Get<std::string>("kind");
  const auto known = std::ranges::find(kKinds, kind);
  if (known == std::end(kKinds)) {
    throw UsageError(where + ".kind: pair, bridge or tunnel, not " + kind);
  }
  link.kind = static_cast<Link::Kind>(known - std::begin(kKinds));
  reader.ForEach("endpoints", [&](const nlohmann::json& element, const std::string& place) {
    const ObjectReader endpoint(element, place, {"node", "interface"});
    link.endpoints.push_back(
        {endpoint.Get<std::string>("node"), endpoint.Get<std::string>("interface")});
  });
  reader.ForEach("specs", [&](const nlohmann::json& element, const std::string& place) {
    if (!element.is_string()) throw UsageError(place + ": a SPEC is needed");
    link.specs.push_back(path::ParseSpec(element.get<std::string>()));
  });
  if (reader.Has("emulator")) link.emulator = ParseEmulator(reader.Get<std::string>("emulator"));
  if (reader.Has("live")) link.live = reader.Get<bool>("live");
  if (reader.Has("tunnel")) link.tunnel = ReadTunnel(reader.Member("tunnel"), where + ".tunnel");
  return link;
}

template <class T>
nlohmann::json ToStrings(const std::vector<T>& all) {
  nlohmann::json list = nlohmann::json::array();
  for (const T& each : all) list.push_back(each.ToString());
  return list;
}

nlohmann::json ToJson(const Interface& interface) {
  nlohmann::json json = {{"name", interface.name},
                         {"mac", interface.mac.ToString()},
                         {"addresses", ToStrings(interface.addresses)},
                         {"mtu", interface.mtu}};
  if (interface.physical) json["physical"] = *interface.physical;
  return json;
}

nlohmann::json ToJson(const forward::ProgramDescription& program) {
  return {{"name", program.name},
          {"outcomes", program.outcomes},
          {"losses", program.losses},
          {"filter", program.filter},
          {"is_promiscuous", program.is_promiscuous},
          {"control_type", program.control_type},
          {"table_words", program.table_words},
          {"overhead", program.overhead}};
}

nlohmann::json ToJson(const Node& node) {
  nlohmann::json interfaces = nlohmann::json::array();
  for (const Interface& interface : node.interfaces) interfaces.push_back(ToJson(interface));
  nlohmann::json json = {{"name", node.name},
                         {"data_plane", node.data_plane->name},
                         {"interfaces", interfaces},
                         {"program_addresses", ToStrings(node.program_addresses)},
                         {"loopback", ToStrings(node.loopback)},
                         {"sysctls", node.sysctls},
                         {"forwards_ipv4", node.forwards_ipv4},
                         {"forwards_ipv6", node.forwards_ipv6},
                         {"by_hop", node.by_hop},
                         {"container", node.container}};
  if (node.program) json["program"] = ToJson(*node.program);
  return json;
}

nlohmann::json ToJson(const Remote& remote) {
  nlohmann::json json = {{"name", remote.name},
                         {"interface", ToJson(remote.interface)},
                         {"vni", remote.vni},
                         {"anyone", remote.anyone}};
  if (remote.address) json["address"] = remote.address->ToString();
  if (!remote.programs_of.empty()) json["programs_of"] = remote.programs_of;
  return json;
}

nlohmann::json ToJson(const Link& link) {
  nlohmann::json endpoints = nlohmann::json::array();
  for (const Endpoint& endpoint : link.endpoints) {
    endpoints.push_back({{"node", endpoint.node}, {"interface", endpoint.interface}});
  }
  nlohmann::json specs = nlohmann::json::array();
  for (const path::Spec& spec : link.specs) specs.push_back(path::FormatSpec(spec));
  nlohmann::json json = {{"name", link.name},
                         {"kind", kKinds[static_cast<size_t>(link.kind)]},
                         {"endpoints", endpoints},
                         {"specs", specs},
                         {"emulator", EmulatorName(link.emulator)},
                         {"live", link.live}};
  if (link.tunnel) {
    json["tunnel"] = {{"vni", link.tunnel->vni},
                      {"port", link.tunnel->port},
                      {"remote", link.tunnel->remote.ToString()},
                      {"end", link.tunnel->end}};
  }
  return json;
}

}  // namespace

const char* EmulatorName(Emulator emulator) {
  return emulator == Emulator::kEngine ? "engine" : "kernel";
}

Emulator ParseEmulator(const std::string& text) {
  if (text == "engine") return Emulator::kEngine;
  if (text == "kernel") return Emulator::kKernel;
  throw UsageError("emulator: engine or kernel, not \"" + text + "\"");
}

bool Link::IsPlainWire() const {
  return std::all_of(specs.begin(), specs.end(),
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
  if (topology.nodes.empty()) throw UsageError("lab " + topology.name + ": it has no nodes");
  std::set<std::string> nodes, links, physicals;
  for (const Node& node : topology.nodes) {
    CheckNode(node, &physicals);
    if (!nodes.insert(node.name).second) throw UsageError("two nodes are called " + node.name);
  }
  for (const Remote& remote : topology.remotes) {
    CheckRemote(topology, remote);
    if (!nodes.insert(remote.name).second) throw UsageError("two nodes are called " + remote.name);
  }
  for (const OtherNode& other : topology.others) CheckNodeName(other.name);
  Directory directory(topology);
  for (const Link& link : topology.links) {
    CheckLink(link, &directory);
    if (HasRemote(topology, link) && link.emulator == Emulator::kKernel && !link.IsPlainWire()) {
      throw UsageError("link " + link.name +
                       ": a remote node's end has no interface for the kernel's qdiscs; use "
                       "emulator: engine");
    }
    if (!links.insert(link.name).second) throw UsageError("two links are called " + link.name);
  }
  directory.CheckAllTaken();
}

void to_json(nlohmann::json& json, const Topology& topology) {
  nlohmann::json nodes = nlohmann::json::array();
  for (const Node& node : topology.nodes) nodes.push_back(ToJson(node));
  nlohmann::json links = nlohmann::json::array();
  for (const Link& link : topology.links) links.push_back(ToJson(link));
  json = {{"name", topology.name},
          {"seed", topology.seed},
          {"directory", topology.directory},
          {"nodes", nodes},
          {"links", links}};
  for (const OtherNode& other : topology.others) {
    json["others"].push_back({{"name", other.name}, {"addresses", ToStrings(other.addresses)}});
  }
  if (topology.remotes.empty()) return;
  for (const Remote& remote : topology.remotes) json["remotes"].push_back(ToJson(remote));
  json["hub"] = {{"address", topology.hub.address}, {"port", topology.hub.port}};
  if (topology.hub.readers) json["hub"]["readers"] = *topology.hub.readers;
  if (topology.hub.queue) json["hub"]["queue"] = *topology.hub.queue;
}

void from_json(const nlohmann::json& json, Topology& topology) {
  const ObjectReader reader(
      json, "topology",
      {"name", "seed", "directory", "nodes", "links", "remotes", "hub", "others"});
  Topology result;
  result.name = reader.Get<std::string>("name");
  if (reader.Has("seed")) result.seed = reader.Get<uint64_t>("seed");
  if (reader.Has("directory")) result.directory = reader.Get<std::string>("directory");
  reader.ForEach("nodes", [&](const nlohmann::json& element, const std::string& where) {
    result.nodes.push_back(ReadNode(element, where));
  });
  reader.ForEach("links", [&](const nlohmann::json& element, const std::string& where) {
    result.links.push_back(ReadLink(element, where));
  });
  reader.ForEach("remotes", [&](const nlohmann::json& element, const std::string& where) {
    result.remotes.push_back(ReadRemote(element, where));
  });
  reader.ForEach("others", [&](const nlohmann::json& element, const std::string& where) {
    const ObjectReader other(element, where, {"name", "addresses"});
    result.others.push_back({other.Get<std::string>("name"), other.Addresses("addresses")});
  });
  if (reader.Has("hub")) result.hub = ReadHub(json.at("hub"), "topology.hub");
  topology = std::move(result);
}

}  // namespace viaduct::lab
