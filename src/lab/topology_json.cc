// Converts a Topology to and from JSON, for the broker and for a run's record.
#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/text/json_text.h"
#include "base/wire/vxlan.h"
#include "lab/topology.h"

namespace viaduct::lab {
namespace {

// Reads one JSON object strictly: throws UsageError if a member is missing, unknown or of the wrong
// type. The message gives the member's place ("topology.nodes[2].interfaces[0].mtu").
class ObjectReader {
 public:
  ObjectReader(const nlohmann::json& json, std::string where,
               std::initializer_list<std::string_view> keys)
      : json_(json), where_(std::move(where)) {
    if (!json.is_object()) throw UsageError(where_ + ": expected an object");
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
      throw UsageError(Where(key) + ": wrong type of value: " + JsonText(value));
    }
  }

  int GetInteger(const char* key, int low, int high) const {
    const nlohmann::json& value = At(key);
    if (!value.is_number_integer() || value < low || value > high) {
      throw UsageError(Where(key) + ": expected a whole number in " + std::to_string(low) + ".." +
                       std::to_string(high) + ", not " + JsonText(value));
    }
    return value.get<int>();
  }

  const nlohmann::json& Member(const char* key) const { return At(key); }

  // Calls each(element, where) for the elements of a list; an absent list is empty.
  template <class F>
  void ForEach(const char* key, F each) const {
    if (!Has(key)) return;
    const nlohmann::json& list = json_.at(key);
    if (!list.is_array()) throw UsageError(Where(key) + ": expected a list");
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
      if (!element.is_string()) throw UsageError(where + ": expected an address");
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
  const ObjectReader reader(json, where, {"name", "mac", "addresses", "mtu", "physical", "link"});
  Interface interface;
  interface.name = reader.Get<std::string>("name");
  interface.mac = wire::MacAddress::Parse(reader.Get<std::string>("mac"));
  interface.addresses = reader.Prefixes("addresses");
  if (reader.Has("mtu")) interface.mtu = reader.GetInteger("mtu", 68, 65535);
  if (reader.Has("physical")) interface.physical = reader.Get<std::string>("physical");
  if (reader.Has("link")) interface.link = reader.Get<std::string>("link");
  return interface;
}

forward::ProgramDescription ReadProgram(const nlohmann::json& json, const std::string& where) {
  const ObjectReader reader(json, where,
                            {"name", "outcomes", "losses", "filter", "is_promiscuous",
                             "control_type", "table_words", "overhead"});
  using forward::ProgramDescription;
  constexpr auto kMaxWords = static_cast<int>(ProgramDescription::kMaxTableWords);
  constexpr auto kMaxOverhead = static_cast<int>(ProgramDescription::kMaxOverhead);
  return {.name = reader.Get<std::string>("name"),
          .outcomes = reader.Get<std::vector<std::string>>("outcomes"),
          .losses = reader.Get<std::vector<std::string>>("losses"),
          .filter = reader.Get<std::string>("filter"),
          .is_promiscuous = reader.Get<bool>("is_promiscuous"),
          .control_type = static_cast<uint16_t>(reader.GetInteger("control_type", 0, 0xffff)),
          .table_words = static_cast<size_t>(reader.GetInteger("table_words", 0, kMaxWords)),
          .overhead = static_cast<size_t>(reader.GetInteger("overhead", 0, kMaxOverhead))};
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
      throw UsageError(where + ".data_plane: expected " + fib::DataPlaneNames() + ", not " + text);
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
  remote.vni = static_cast<uint32_t>(reader.GetInteger("vni", 1, wire::VxlanHeader::kMaxVni));
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

constexpr const char* kKinds[] = {"pair", "bridge", "tunnel"};  // ordered as Link::Kind

Tunnel ReadTunnel(const nlohmann::json& json, const std::string& where) {
  const ObjectReader reader(json, where, {"vni", "port", "remote", "end"});
  Tunnel tunnel;
  tunnel.vni = static_cast<uint32_t>(reader.GetInteger("vni", 1, 0xffffff));
  tunnel.port = static_cast<uint16_t>(reader.GetInteger("port", 1024, 65535));
  tunnel.remote = wire::IpAddress::Parse(reader.Get<std::string>("remote"));
  if (tunnel.remote.IsUnspecified() || tunnel.remote.IsMulticast()) {
    throw UsageError(where + ".remote: " + tunnel.remote.ToString() +
                     " is not the unicast address of a machine");
  }
  tunnel.end = reader.GetInteger("end", 0, 1);
  return tunnel;
}

Link ReadLink(const nlohmann::json& json, const std::string& where) {
  const ObjectReader reader(
      json, where, {"name", "kind", "endpoints", "specs", "emulator", "live", "tunnel", "classes"});
  Link link;
  link.name = reader.Get<std::string>("name");
  const auto kind = reader.Get<std::string>("kind");
  const auto known = std::ranges::find(kKinds, kind);
  if (known == std::end(kKinds)) {
    throw UsageError(where + ".kind: expected pair, bridge or tunnel, not " + kind);
  }
  link.kind = static_cast<Link::Kind>(known - std::begin(kKinds));
  reader.ForEach("endpoints", [&](const nlohmann::json& element, const std::string& place) {
    const ObjectReader endpoint(element, place, {"node", "interface"});
    link.endpoints.push_back(
        {endpoint.Get<std::string>("node"), endpoint.Get<std::string>("interface")});
  });
  reader.ForEach("specs", [&](const nlohmann::json& element, const std::string& place) {
    if (!element.is_string()) throw UsageError(place + ": expected a SPEC");
    link.specs.push_back(path::ParseSpec(element.get<std::string>()));
  });
  if (reader.Has("emulator")) link.emulator = ParseEmulator(reader.Get<std::string>("emulator"));
  if (reader.Has("live")) link.live = reader.Get<bool>("live");
  if (reader.Has("tunnel")) link.tunnel = ReadTunnel(reader.Member("tunnel"), where + ".tunnel");
  if (!reader.Has("classes")) return link;
  reader.ForEach("classes", [&](const nlohmann::json& element, const std::string& place) {
    const ObjectReader entry(element, place, {"name", "filter", "up", "down"});
    link.classes.push_back({entry.Get<std::string>("name"), entry.Get<std::string>("filter"),
                            path::ParseSpec(entry.Get<std::string>("up")),
                            path::ParseSpec(entry.Get<std::string>("down"))});
  });
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
  if (!interface.link.empty()) json["link"] = interface.link;
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
  for (const path::TrafficClass& each : link.classes) {
    json["classes"].push_back({{"name", each.name},
                               {"filter", each.filter},
                               {"up", path::FormatSpec(each.up)},
                               {"down", path::FormatSpec(each.down)}});
  }
  if (link.tunnel) {
    json["tunnel"] = {{"vni", link.tunnel->vni},
                      {"port", link.tunnel->port},
                      {"remote", link.tunnel->remote.ToString()},
                      {"end", link.tunnel->end}};
  }
  return json;
}

}  // namespace

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
