#include "broker/protocol.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/json_text.h"
#include "sys/user_program.h"

namespace viaduct::broker {
namespace {

using nlohmann::json;

PacketHeader CheckedHeader(std::span<const std::byte> packet, size_t descriptors) {
  PacketHeader header;
  if (packet.size() < sizeof header) {
    throw ProtocolError(
        fmt::format("broker protocol: truncated packet of {} bytes, a header has {}", packet.size(),
                    sizeof header));
  }
  std::memcpy(&header, packet.data(), sizeof header);
  if (header.magic != kMagic) {
    throw ProtocolError("broker protocol: this is not Viaduct's broker protocol (wrong magic)");
  }
  if (header.version != kProtocolVersion) {
    throw ProtocolError(
        fmt::format("broker protocol: the peer uses version {}, this program version {}; use "
                    "programs of the same build",
                    header.version, kProtocolVersion));
  }
  if (header.type == 0 || header.type > static_cast<uint16_t>(kLastMessageType)) {
    throw ProtocolError(fmt::format("broker protocol: unknown message type {}", header.type));
  }
  if (header.length > kMaxPacketPayload) {
    throw ProtocolError(fmt::format("broker protocol: packet of {} bytes, at most {} are allowed",
                                    header.length, kMaxPacketPayload));
  }
  if (header.length != packet.size() - sizeof header) {
    throw ProtocolError(
        fmt::format("broker protocol: truncated packet, {} bytes announced and {} received",
                    header.length, packet.size() - sizeof header));
  }
  if ((header.flags & ~kMore) != 0) throw ProtocolError("broker protocol: unknown flag");
  if (header.descriptors != descriptors ||
      ((header.flags & kMore) != 0 && header.descriptors != 0)) {
    throw ProtocolError(fmt::format("broker protocol: {} descriptors announced and {} received",
                                    header.descriptors, descriptors));
  }
  return header;
}

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
    throw ProtocolError("broker protocol: route of an unknown address family");
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
    throw ProtocolError("broker protocol: malformed route");
  }
  hop.interface.assign(record.interface, end);
  const auto extra = static_cast<size_t>(route.destination.address.Length());
  for (size_t i = extra; i < 16; ++i) {  // the tail of an IPv4 address is zero
    route.destination.address.bytes[i] = hop.gateway.bytes[i] = 0;
  }
  route.destination = route.destination.Network();
  route.next_hops.push_back(std::move(hop));
  return route;
}

// The route of one record, or one more next hop of the last route.
void TakeRecord(const RouteRecord& record, std::vector<fib::Route>& routes) {
  fib::Route route = RouteOf(record);
  if ((record.flags & ~(kFurtherHop | kPreferred)) != 0) {
    throw ProtocolError("broker protocol: unknown flag of a route");
  }
  if ((record.flags & kFurtherHop) == 0) {
    routes.push_back(std::move(route));
    return;
  }
  if (routes.empty() || fib::KeyOf(routes.back()) != fib::KeyOf(route)) {
    throw ProtocolError("broker protocol: a next hop without its route");
  }
  routes.back().next_hops.push_back(std::move(route.next_hops.front()));
}

// More would not fit in a message. The client then treats the state of all routes as unknown and
// applies them again.
constexpr size_t kMostRefused = 1 << 15;

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

// Bytes as the first 256 characters of Unicode, in UTF-8, and back.
std::string Widened(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80) text += static_cast<char>(0xC0 | byte >> 6);
    text += static_cast<char>(byte >= 0x80 ? 0x80 | (byte & 0x3F) : byte);
  }
  return text;
}

std::string Narrowed(std::string_view text) {
  std::string bytes;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x80) {
      bytes += text[i];
    } else if ((byte == 0xC2 || byte == 0xC3) && i + 1 < text.size()) {
      bytes += static_cast<char>(byte << 6 | (text[++i] & 0x3F));
    } else {
      throw UsageError("broker request: a program's words are bytes");
    }
    if (bytes.back() == '\0') throw UsageError("broker request: a program's words have no zeros");
  }
  return bytes;
}

// Whether the socket is of this kind; otherwise it is UDP's.
bool IsKind(const json& value, const std::string& other) {
  const auto kind = Member<std::string>(value, "kind");
  if (kind != other && kind != "udp") {
    throw UsageError("broker request: unknown kind of socket: " + kind);
  }
  return kind == other;
}

}  // namespace

wire::Family DecodeFamily(const json& value) { return FamilyOf(Member<int>(value, "family")); }

wire::Family FamilyOf(int family) {
  if (family != 4 && family != 6) {
    throw UsageError("broker request: unknown address family " + std::to_string(family));
  }
  return static_cast<wire::Family>(family);
}

std::vector<Packet> EncodeMessage(MessageType type, uint32_t sequence, std::string_view payload,
                                  size_t descriptors) {
  if (payload.size() > kMaxMessagePayload) {
    throw UsageError(fmt::format("request of {} bytes to the broker, at most {} are allowed",
                                 payload.size(), kMaxMessagePayload));
  }
  std::vector<Packet> packets;
  size_t offset = 0;
  do {
    const auto part = payload.substr(offset, kMaxPacketPayload);
    offset += part.size();
    const bool is_last = offset == payload.size();
    const PacketHeader header{kMagic,
                              kProtocolVersion,
                              static_cast<uint16_t>(type),
                              sequence,
                              static_cast<uint32_t>(part.size()),
                              is_last ? uint16_t{0} : kMore,
                              static_cast<uint16_t>(is_last ? descriptors : 0)};
    Packet packet(sizeof header + part.size());
    std::memcpy(packet.data(), &header, sizeof header);
    std::ranges::copy(std::as_bytes(std::span(part)), packet.begin() + sizeof header);
    packets.push_back(std::move(packet));
  } while (offset < payload.size());
  return packets;
}

std::optional<Message> MessageAssembler::Add(std::span<const std::byte> packet,
                                             std::vector<UniqueFd> descriptors) {
  const PacketHeader header = CheckedHeader(packet, descriptors.size());
  const auto type = static_cast<MessageType>(header.type);
  if (!partial_) {
    partial_.emplace();
    partial_->type = type;
    partial_->sequence = header.sequence;
  } else if (partial_->type != type || partial_->sequence != header.sequence) {
    throw ProtocolError("broker protocol: another message began before the last was complete");
  }
  if (partial_->payload.size() + header.length > kMaxMessagePayload) {
    throw ProtocolError(
        fmt::format("broker protocol: message of over {} bytes", kMaxMessagePayload));
  }
  const auto payload = packet.subspan(sizeof header);
  partial_->payload.append(reinterpret_cast<const char*>(payload.data()), payload.size());
  if ((header.flags & kMore) != 0) return std::nullopt;
  partial_->descriptors = std::move(descriptors);
  return std::exchange(partial_, std::nullopt);
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
  if (payload.size() < sizeof header) throw ProtocolError("broker protocol: truncated routes");
  std::memcpy(&header, payload.data(), sizeof header);
  payload.remove_prefix(sizeof header);
  if (uint64_t{header.node_length} + uint64_t{header.records} * sizeof(RouteRecord) !=
      payload.size()) {
    throw ProtocolError("broker protocol: the routes' sizes do not add up");
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
        throw ProtocolError("broker protocol: unknown kind of route change");
    }
  }
  return request;
}

json DecodeJson(std::string_view payload) {
  json value = json::parse(payload, nullptr, /*allow_exceptions=*/false);
  if (!value.is_object()) throw ProtocolError("broker protocol: a JSON object was expected");
  return value;
}

std::string EncodeError(const Error& error) {
  json value = {{"message", error.what()}, {"status", static_cast<int>(error.status())}};
  const auto* routes = dynamic_cast<const fib::RouteError*>(&error);
  if (routes != nullptr && routes->refused().size() <= kMostRefused) {
    for (const fib::RefusedRoute& each : routes->refused()) {
      value["refused"].push_back(ToJson(each));
    }
  }
  if (const auto* execute = dynamic_cast<const sys::ExecuteError*>(&error)) {
    value["execute"] = execute->error_number();
  }
  // Text of foreign origin (a file name) may be no UTF-8.
  return JsonText(value);
}

void ThrowDecodedError(std::string_view payload) {
  const json value = DecodeJson(payload);
  const auto message = Member<std::string>(value, "message");
  if (value.contains("refused")) {
    std::vector<fib::RefusedRoute> refused;
    for (const json& each : Member<json::array_t>(value, "refused")) {
      refused.push_back(ToRefusedRoute(each));
    }
    throw fib::RouteError(message, std::move(refused));
  }
  if (value.contains("execute")) {
    throw sys::ExecuteError(message, Member<int>(value, "execute"));
  }
  switch (static_cast<ExitStatus>(Member<int>(value, "status"))) {
    case ExitStatus::kUsage:
      throw UsageError(message);
    case ExitStatus::kEnvironment:
      throw EnvironmentError(message);
    default:
      throw Error(message);
  }
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

void to_json(json& value, const ProgramOptions& options) {
  value = json{
      {"node", options.node},          {"arguments", json::array()},
      {"environment", json::object()}, {"working_directory", Widened(options.working_directory)},
      {"terminal", options.terminal},  {"file_mask", options.file_mask},
      {"names", options.names},        {"new_privileges", options.new_privileges}};
  for (const std::string& word : options.arguments) value["arguments"].push_back(Widened(word));
  for (const auto& [name, text] : options.environment) {
    value["environment"][Widened(name)] = Widened(text);
  }
  int place = 0;
  json places = json::array();
  for (const int fd : {options.standard_input, options.standard_output, options.standard_error}) {
    places.push_back(fd < 0 ? -1 : place++);
  }
  value["standard"] = places;
}

void from_json(const json& value, ProgramOptions& options) {
  options.node = Member<std::string>(value, "node");
  options.arguments.clear();
  for (const auto& word : Member<std::vector<std::string>>(value, "arguments")) {
    options.arguments.push_back(Narrowed(word));
  }
  options.environment.clear();
  for (const auto& [name, text] :
       Member<std::map<std::string, std::string>>(value, "environment")) {
    options.environment[Narrowed(name)] = Narrowed(text);
  }
  options.working_directory = Narrowed(Member<std::string>(value, "working_directory"));
  options.terminal = Member<bool>(value, "terminal");
  options.names = !value.contains("names") || Member<bool>(value, "names");
  options.new_privileges =
      value.contains("new_privileges") && Member<bool>(value, "new_privileges");
  options.file_mask = value.contains("file_mask") ? Member<mode_t>(value, "file_mask") : 022;
  const auto places = Member<std::vector<int>>(value, "standard");
  if (options.arguments.empty() || places.size() != 3) {
    throw UsageError("broker request: a program needs arguments and three standard descriptors");
  }
  if (options.terminal && places[0] < 0) {
    throw UsageError("broker request: a program with a terminal needs it as standard input");
  }
  options.standard_input = places[0];
  options.standard_output = places[1];
  options.standard_error = places[2];
}

ProgramOptions DecodeProgram(const Message& request) {
  auto options = DecodeJson(request.payload).get<ProgramOptions>();
  for (int* place : {&options.standard_input, &options.standard_output, &options.standard_error}) {
    if (*place < 0) continue;
    if (static_cast<size_t>(*place) >= request.descriptors.size()) {
      throw UsageError("broker request: a standard descriptor was not passed");
    }
    *place = request.descriptors[*place].get();
  }
  return options;
}

}  // namespace viaduct::broker
