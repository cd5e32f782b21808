#include "lab/broker/protocol.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace viaduct::broker {
namespace {

using ipc::Member;
using nlohmann::json;

RouteRecord RecordOf(RouteChange change, const fib::Route& route, const fib::NextHop& hop) {
  RouteRecord record{};
  if (hop.interface.size() >= sizeof record.interface) {
    throw UsageError("interface name longer than 15 characters: " + hop.interface);
  }
  record.metric = route.metric;
  record.change = static_cast<uint8_t>(change);
  if (route.table == fib::Table::kPreferred) record.flags = kPreferred;
  record.family = static_cast<uint8_t>(route.destination.address.family);
  record.prefix_length = static_cast<uint8_t>(route.destination.length);
  std::ranges::copy(route.destination.address.bytes, record.destination);
  if (!hop.gateway.IsUnspecified()) {
    if (hop.gateway.family != route.destination.address.family) {
      throw UsageError("gateway and destination of different address families: " +
                       fib::ToString(route));
    }
    std::ranges::copy(hop.gateway.bytes, record.gateway);
  }
  std::ranges::copy(hop.interface, record.interface);
  return record;
}

fib::Route RouteOf(const RouteRecord& record) {
  const auto family = static_cast<wire::Family>(record.family);
  if (family != wire::Family::kIpv4 && family != wire::Family::kIpv6) {
    throw ipc::ProtocolError(kService, "route of an unknown address family");
  }
  fib::Route route;
  fib::NextHop hop;
  route.metric = record.metric;
  if ((record.flags & kPreferred) != 0) route.table = fib::Table::kPreferred;
  route.destination.address.family = hop.gateway.family = family;
  route.destination.length = record.prefix_length;
  std::ranges::copy(record.destination, route.destination.address.bytes.begin());
  std::ranges::copy(record.gateway, hop.gateway.bytes.begin());
  const auto end = std::ranges::find(record.interface, '\0');
  if (route.destination.length > 8 * route.destination.address.Length() ||
      end == std::end(record.interface)) {
    throw ipc::ProtocolError(kService, "malformed route");
  }
  hop.interface.assign(record.interface, end);
  const auto extra = static_cast<size_t>(route.destination.address.Length());
  for (size_t i = extra; i < 16; ++i) {  // sets the unused bytes of an IPv4 address to zero
    route.destination.address.bytes[i] = hop.gateway.bytes[i] = 0;
  }
  route.destination = route.destination.Network();
  route.next_hops.push_back(std::move(hop));
  return route;
}

// Appends the route of a record to `routes`, or adds the next hop of the record to the last route
// (kFurtherHop).
void TakeRecord(const RouteRecord& record, std::vector<fib::Route>& routes) {
  fib::Route route = RouteOf(record);
  if ((record.flags & ~(kFurtherHop | kPreferred)) != 0) {
    throw ipc::ProtocolError(kService, "unknown flag of a route");
  }
  if ((record.flags & kFurtherHop) == 0) {
    routes.push_back(std::move(route));
    return;
  }
  if (routes.empty() || fib::KeyOf(routes.back()) != fib::KeyOf(route)) {
    throw ipc::ProtocolError(kService, "a next hop without a route");
  }
  routes.back().next_hops.push_back(std::move(route.next_hops.front()));
}

// The maximum number of refused routes in a reply: more would not fit in a message. Without the
// routes in the reply, the client treats the state of all routes as unknown and applies them again.
constexpr size_t kMaxRefused = 1 << 15;

json ToJson(const fib::RefusedRoute& refused) {
  json hops = json::array();
  for (const fib::NextHop& hop : refused.route.next_hops) {
    hops.push_back({{"gateway", hop.gateway.ToString()}, {"interface", hop.interface}});
  }
  return {{"destination", refused.route.destination.ToString()},
          {"next_hops", hops},
          {"metric", refused.route.metric},
          {"preferred", refused.route.table == fib::Table::kPreferred},
          {"reason", refused.reason}};
}

fib::RefusedRoute ToRefusedRoute(const json& value) {
  fib::RefusedRoute refused{
      {wire::IpPrefix::Parse(Member<std::string>(value, "destination")),
       {},
       Member<uint32_t>(value, "metric"),
       Member<bool>(value, "preferred") ? fib::Table::kPreferred : fib::Table::kMain},
      Member<std::string>(value, "reason")};
  for (const json& hop : Member<json::array_t>(value, "next_hops")) {
    refused.route.next_hops.push_back({wire::IpAddress::Parse(Member<std::string>(hop, "gateway")),
                                       Member<std::string>(hop, "interface")});
  }
  return refused;
}

// Implements Service::describe_error: describes the refused routes of a fib::RouteError.
json DescribeError(const Error& error) {
  const auto* routes = dynamic_cast<const fib::RouteError*>(&error);
  if (routes == nullptr || routes->refused().size() > kMaxRefused) return nullptr;
  json refused = json::array();
  for (const fib::RefusedRoute& each : routes->refused()) refused.push_back(ToJson(each));
  return refused;
}

void ThrowError(const std::string& message, const json& described) {
  std::vector<fib::RefusedRoute> refused;
  for (const json& each : described) refused.push_back(ToRefusedRoute(each));
  throw fib::RouteError(message, std::move(refused));
}

// Whether the requested socket is of the kind `other` and not UDP. Throws UsageError if it is
// neither.
bool IsKind(const json& value, const std::string& other) {
  const auto kind = Member<std::string>(value, "kind");
  if (kind != other && kind != "udp") {
    throw UsageError("request: unknown kind of socket: " + kind);
  }
  return kind == other;
}

}  // namespace

const ipc::Service kService = {"broker", 9, DescribeError, ThrowError};

wire::Family DecodeFamily(const json& value) { return FamilyOf(Member<int>(value, "family")); }

wire::Family FamilyOf(int family) {
  if (family != 4 && family != 6) {
    throw UsageError("request: unknown address family " + std::to_string(family));
  }
  return static_cast<wire::Family>(family);
}

std::string EncodeRoutes(const std::string& node, const fib::RouteChanges& changes) {
  RoutesHeader header{static_cast<uint32_t>(node.size()), 0};
  std::string payload;
  payload.reserve(sizeof header + node.size() + changes.size() * sizeof(RouteRecord));
  payload.resize(sizeof header);
  payload.append(node);
  const auto append = [&](RouteChange change, const std::vector<fib::Route>& routes) {
    for (const fib::Route& route : routes) {
      for (const fib::NextHop& hop : route.next_hops) {
        RouteRecord record = RecordOf(change, route, hop);
        if (&hop != &route.next_hops.front()) record.flags |= kFurtherHop;
        payload.append(reinterpret_cast<const char*>(&record), sizeof record);
        ++header.records;
      }
    }
  };
  append(RouteChange::kReplaced, changes.replaced);
  append(RouteChange::kAdded, changes.added);
  append(RouteChange::kRemoved, changes.removed);
  std::memcpy(payload.data(), &header, sizeof header);
  return payload;
}

RoutesRequest DecodeRoutes(std::string_view payload) {
  RoutesHeader header;
  if (payload.size() < sizeof header) throw ipc::ProtocolError(kService, "truncated routes");
  std::memcpy(&header, payload.data(), sizeof header);
  payload.remove_prefix(sizeof header);
  if (uint64_t{header.node_length} + uint64_t{header.records} * sizeof(RouteRecord) !=
      payload.size()) {
    throw ipc::ProtocolError(kService, "inconsistent sizes of routes");
  }
  RoutesRequest request;
  request.node = payload.substr(0, header.node_length);
  payload.remove_prefix(header.node_length);
  for (; !payload.empty(); payload.remove_prefix(sizeof(RouteRecord))) {
    RouteRecord record;
    std::memcpy(&record, payload.data(), sizeof record);
    switch (static_cast<RouteChange>(record.change)) {
      case RouteChange::kReplaced:
        TakeRecord(record, request.changes.replaced);
        break;
      case RouteChange::kAdded:
        TakeRecord(record, request.changes.added);
        break;
      case RouteChange::kRemoved:
        TakeRecord(record, request.changes.removed);
        break;
      default:
        throw ipc::ProtocolError(kService, "unknown kind of route change");
    }
  }
  return request;
}

void to_json(json& value, const PacketSocketOptions& options) {
  json filter = json::array();
  for (const sock_filter& each : options.filter.instructions()) {
    filter.push_back({each.code, each.jt, each.jf, each.k});
  }
  value = json{{"node", options.node},
               {"interface", options.interface},
               {"ether_type", options.ether_type},
               {"filter", std::move(filter)},
               {"promiscuous", options.promiscuous}};
}

void from_json(const json& value, PacketSocketOptions& options) {
  options.node = Member<std::string>(value, "node");
  options.interface = Member<std::string>(value, "interface");
  options.ether_type = Member<uint16_t>(value, "ether_type");
  std::vector<sock_filter> filter;
  using Instruction = std::tuple<uint16_t, uint8_t, uint8_t, uint32_t>;
  for (const auto& [code, jt, jf, k] : Member<std::vector<Instruction>>(value, "filter")) {
    filter.push_back({code, jt, jf, k});
  }
  options.filter = sys::PacketFilter(std::move(filter));
  options.promiscuous = Member<bool>(value, "promiscuous");
}

void to_json(json& value, const ControlSocketOptions& options) {
  value = json{{"node", options.node},
               {"interface", options.interface},
               {"family", static_cast<int>(options.family)},
               {"kind", options.kind == ControlSocketOptions::Kind::kUdp ? "udp" : "raw"},
               {"number", options.number}};
}

void from_json(const json& value, ControlSocketOptions& options) {
  options.node = Member<std::string>(value, "node");
  options.interface = Member<std::string>(value, "interface");
  options.family = DecodeFamily(value);
  options.kind =
      IsKind(value, "raw") ? ControlSocketOptions::Kind::kRawIp : ControlSocketOptions::Kind::kUdp;
  options.number = Member<uint16_t>(value, "number");
}

void to_json(json& value, const TransportSocketOptions& options) {
  value = json{{"node", options.node},
               {"family", static_cast<int>(options.family)},
               {"kind", options.kind == TransportSocketOptions::Kind::kUdp ? "udp" : "tcp"}};
}

void from_json(const json& value, TransportSocketOptions& options) {
  options.node = Member<std::string>(value, "node");
  options.family = DecodeFamily(value);
  options.kind = IsKind(value, "tcp") ? TransportSocketOptions::Kind::kTcp
                                      : TransportSocketOptions::Kind::kUdp;
}

}  // namespace viaduct::broker
