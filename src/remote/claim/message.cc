#include "remote/claim/message.h"

#include <fmt/format.h>

#include <algorithm>

namespace viaduct::claim {
namespace {

using nlohmann::json;

// The maximum length of a domain name as text (RFC 1035, section 2.3.4).
constexpr size_t kMaxNameLength = 253;
constexpr size_t kMaxNodeLength = 255;    // characters, the maximum of a file name
constexpr size_t kMaxSessionLength = 64;  // characters
constexpr size_t kMaxAddresses = 256, kMaxRoutes = 16384, kMaxNames = 65536;
constexpr int kMinMtu = 68, kMinIpv6Mtu = 1280;
// 70 bytes are the headers of VXLAN over IPv6, and the inner Ethernet header.
constexpr int kMaxMtu = 65535 - 70;

[[noreturn]] void Refuse(std::string_view key, std::string_view what) {
  throw MessageError(fmt::format("control connection: \"{}\" {}", key, what));
}

const json& At(const json& object, const char* key, json::value_t type) {
  const auto found = object.find(key);
  if (found == object.end()) Refuse(key, "is missing");
  if (found->type() != type) Refuse(key, "is of the wrong type");
  return *found;
}

int64_t WholeNumber(const json& object, const char* key, int64_t low, int64_t high) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_integer()) Refuse(key, "is not a whole number");
  if (found->is_number_unsigned() && found->get<uint64_t>() > static_cast<uint64_t>(high)) {
    Refuse(key, "is too large");
  }
  const auto number = found->get<int64_t>();
  if (number < low || number > high) Refuse(key, "is out of range");
  return number;
}

// Returns the text of a JSON value. Refuses a text that cannot be printed or be part of a file
// name.
std::string Word(const json& value, const char* key, size_t longest) {
  if (!value.is_string()) Refuse(key, "is not a string");
  const auto& text = value.get_ref<const std::string&>();
  const auto is_refused = [](unsigned char c) { return c <= ' ' || c == 127 || c == '/'; };
  if (text.empty() || text.size() > longest) Refuse(key, "is empty or too long");
  if (std::ranges::any_of(text, is_refused))
    Refuse(key, "contains characters that are not allowed");
  return text;
}

template <class Value>
Value Parsed(const json& value, const char* key) {
  if (!value.is_string()) Refuse(key, "contains a value that is not a string");
  try {
    return Value::Parse(value.get_ref<const std::string&>());
  } catch (const UsageError& error) {
    throw MessageError(fmt::format("control connection: \"{}\": {}", key, error.what()));
  }
}

template <class Value>
std::vector<Value> ParsedList(const json& list, const char* key, size_t most) {
  if (!list.is_array()) Refuse(key, "is not a list");
  if (list.size() > most) Refuse(key, "is too long");
  std::vector<Value> values;
  values.reserve(list.size());
  for (const json& value : list) values.push_back(Parsed<Value>(value, key));
  return values;
}

template <class Value>
json Texts(const std::vector<Value>& values) {
  json texts = json::array();
  for (const Value& value : values) texts.push_back(value.ToString());
  return texts;
}

std::vector<Route> ReadRoutes(const json& list) {
  if (list.size() > kMaxRoutes) Refuse("routes", "is too long");
  std::vector<Route> routes;
  routes.reserve(list.size());
  for (const json& entry : list) {
    if (!entry.is_object()) Refuse("routes", "contains a value that is not a route");
    const Route route{Parsed<wire::IpPrefix>(At(entry, "to", json::value_t::string), "to"),
                      Parsed<wire::IpAddress>(At(entry, "via", json::value_t::string), "via")};
    if (route.to.address.family != route.via.family) Refuse("routes", "mixes IPv4 and IPv6");
    routes.push_back(route);
  }
  return routes;
}

bool IsHostName(const std::string& name) {
  const auto is_allowed = [](unsigned char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_';
  };
  return !name.empty() && name.size() <= kMaxNameLength && std::ranges::all_of(name, is_allowed);
}

std::map<std::string, std::vector<wire::IpAddress>> ReadNames(const json& object) {
  if (object.size() > kMaxNames) Refuse("names", "is too long");
  std::map<std::string, std::vector<wire::IpAddress>> names;
  for (const auto& [name, addresses] : object.items()) {
    if (!IsHostName(name)) Refuse("names", "contains a value that is not a host name");
    names[name] = ParsedList<wire::IpAddress>(addresses, "names", kMaxAddresses);
  }
  return names;
}

// Refuses an MTU below the minimum of IPv6 (RFC 8200, section 5) in an offer with IPv6 addresses:
// the kernel would have no IPv6 on the interface.
void CheckMtu(const Offer& offer) {
  const bool has_ipv6 = std::ranges::any_of(offer.addresses, [](const wire::IpPrefix& prefix) {
    return prefix.address.family == wire::Family::kIpv6;
  });
  if (has_ipv6 && offer.mtu < kMinIpv6Mtu) Refuse("mtu", "is too small for IPv6");
}

json ParseObject(std::string_view line) {
  json parsed = json::parse(line, nullptr, false);
  if (!parsed.is_object()) throw MessageError("control connection: a line is not a JSON object");
  return parsed;
}

std::string Line(const json& object) {
  return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace

EncryptedTunnel ReadTunnel(const json& object) {
  constexpr int64_t kLastPort = 65535;
  EncryptedTunnel tunnel;
  tunnel.key = Parsed<TunnelKey>(At(object, "key", json::value_t::string), "key");
  tunnel.port = static_cast<uint16_t>(WholeNumber(object, "port", 1, kLastPort));
  tunnel.hub = Parsed<wire::IpAddress>(At(object, "hub", json::value_t::string), "hub");
  tunnel.client = Parsed<wire::IpAddress>(At(object, "client", json::value_t::string), "client");
  const auto is_refused = [](const wire::IpAddress& address) {
    return address.family != wire::Family::kIpv4 || address.IsMulticast() ||
           address.IsUnspecified();
  };
  if (tunnel.hub == tunnel.client || is_refused(tunnel.hub) || is_refused(tunnel.client)) {
    Refuse("wireguard", "does not have two IPv4 addresses");
  }
  return tunnel;
}

json WriteTunnel(const EncryptedTunnel& tunnel) {
  return {{"key", tunnel.key.ToString()},
          {"port", tunnel.port},
          {"hub", tunnel.hub.ToString()},
          {"client", tunnel.client.ToString()}};
}

json WriteOffer(const Offer& offer) {
  json routes = json::array();
  for (const Route& route : offer.routes) {
    routes.push_back({{"to", route.to.ToString()}, {"via", route.via.ToString()}});
  }
  json names = json::object();
  for (const auto& [name, addresses] : offer.names) names[name] = Texts(addresses);
  json object = {{"node", offer.node},
                 {"vni", offer.vni},
                 {"port", offer.port},
                 {"mtu", offer.mtu},
                 {"mac", offer.mac.ToString()},
                 {"addresses", Texts(offer.addresses)},
                 {"gateways", Texts(offer.gateways)},
                 {"routes", std::move(routes)},
                 {"names", std::move(names)},
                 {"session", offer.session}};
  if (offer.wireguard) object["wireguard"] = WriteTunnel(*offer.wireguard);
  return object;
}

Offer ReadOffer(const json& object) {
  constexpr int64_t kVniEnd = 1 << 24, kLastPort = 65535;
  Offer offer;
  offer.node = Word(At(object, "node", json::value_t::string), "node", kMaxNodeLength);
  offer.vni = static_cast<uint32_t>(WholeNumber(object, "vni", 1, kVniEnd - 1));
  offer.port = static_cast<uint16_t>(WholeNumber(object, "port", 1, kLastPort));
  offer.mtu = static_cast<int>(WholeNumber(object, "mtu", kMinMtu, kMaxMtu));
  offer.mac = Parsed<wire::MacAddress>(At(object, "mac", json::value_t::string), "mac");
  if (offer.mac.IsMulticast()) Refuse("mac", "is a multicast address");
  offer.addresses = ParsedList<wire::IpPrefix>(At(object, "addresses", json::value_t::array),
                                               "addresses", kMaxAddresses);
  offer.gateways =
      ParsedList<wire::IpAddress>(At(object, "gateways", json::value_t::array), "gateways", 2);
  if (offer.gateways.size() == 2 && offer.gateways[0].family == offer.gateways[1].family) {
    Refuse("gateways", "has two addresses of one address family");
  }
  offer.routes = ReadRoutes(At(object, "routes", json::value_t::array));
  offer.names = ReadNames(At(object, "names", json::value_t::object));
  offer.session = Word(At(object, "session", json::value_t::string), "session", kMaxSessionLength);
  if (object.contains("wireguard")) {
    offer.wireguard = ReadTunnel(At(object, "wireguard", json::value_t::object));
  }
  CheckMtu(offer);
  return offer;
}

std::string Encode(const Request& request) {
  json object = {{"claim", nullptr}, {"version", kVersion}};
  if (request.node) object["claim"] = *request.node;
  if (!request.session.empty()) object["session"] = request.session;
  if (request.wireguard) object["wireguard"] = request.wireguard->ToString();
  return Line(object);
}

std::string Encode(const Alive&) { return Line({{"alive", true}}); }
std::string Encode(const Leave& leave) {
  json object = {{"leave", true}};
  if (leave.has_failed) object["failed"] = true;
  return Line(object);
}
std::string Encode(const Refusal& refusal) { return Line({{"error", refusal.reason}}); }
std::string Encode(const Offer& offer) { return Line(WriteOffer(offer)); }

FromClient ParseFromClient(std::string_view line) {
  const json object = ParseObject(line);
  if (object.contains("alive")) return Alive{};
  if (object.contains("leave")) return Leave{object.contains("failed")};
  if (!object.contains("claim"))
    throw MessageError("control connection: unexpected message instead of a claim");
  const int64_t version = WholeNumber(object, "version", 0, 1 << 30);
  if (version != kVersion) {
    throw MessageError(fmt::format(
        "the client uses version {} of the control protocol, but the hub uses version {}; "
        "install the same version of Viaduct on both",
        version, kVersion));
  }
  Request request;
  if (!object["claim"].is_null()) request.node = Word(object["claim"], "claim", kMaxNodeLength);
  if (object.contains("session")) {
    request.session = Word(object["session"], "session", kMaxSessionLength);
  }
  if (object.contains("wireguard")) {
    request.wireguard = Parsed<TunnelKey>(object["wireguard"], "wireguard");
  }
  return request;
}

FromHub ParseFromHub(std::string_view line) {
  const json object = ParseObject(line);
  if (object.contains("alive")) return Alive{};
  if (!object.contains("error")) return ReadOffer(object);
  if (!object["error"].is_string()) Refuse("error", "is not a string");
  return Refusal{object["error"].get<std::string>()};
}

}  // namespace viaduct::claim
