#include "plane/forward/router.h"

#include <algorithm>
#include <functional>

#include "base/wire/address_scope.h"
#include "base/wire/checksum.h"
#include "base/wire/ethernet.h"
#include "base/wire/fragment.h"
#include "base/wire/link_tag.h"
#include "plane/forward/hash.h"
#include "plane/forward/options.h"

namespace viaduct::forward {
namespace {

constexpr size_t kEthernet = wire::EthernetHeader::kSize;
// The interval at which the kernel gets a packet for a stale neighbour, so that it probes the
// neighbour.
constexpr auto kConfirmInterval = Duration::Seconds(1);

wire::MacAddress MacAt(const std::byte* at) {
  wire::MacAddress mac;
  std::memcpy(mac.bytes.data(), at, mac.bytes.size());
  return mac;
}

bool IsLimitedBroadcast(const wire::IpAddress& address) {
  return address == wire::IpAddress::FromIpv4(0xFFFFFFFF);
}

bool IsForTheNode(const Found& found) {
  return found.kind == Kind::kLocal || found.kind == Kind::kBroadcast;
}

// Returns whether a router may forward packets with these addresses: false if the kernel's
// ip_route_input_slow() treats the source or the destination as a martian address.
bool IsForwardableIpv4(const wire::Ipv4Header& header) {
  return !header.source.IsMulticast() && !IsLimitedBroadcast(header.source) &&
         !header.source.IsUnspecified() && !header.destination.IsUnspecified() &&
         !wire::IsLoopback(header.source) && !wire::IsLoopback(header.destination);
}

// Returns the bytes of the packet, from the IP header to the end of the payload without padding;
// empty if the packet is malformed.
wire::Bytes CheckedIpv4(const wire::Ipv4Header& header, wire::Bytes bytes) {
  if (header.total_length < header.header_length || header.total_length > bytes.size()) return {};
  if (wire::InternetChecksum(bytes.first(header.header_length)) != 0) return {};
  return bytes.first(header.total_length);
}

// Returns whether the kernel's ipv6_rcv() and ip6_forward() accept the addresses of a packet to
// forward.
bool IsForwardableIpv6(const wire::Ipv6Header& header) {
  return !header.source.IsMulticast() && !header.source.IsUnspecified() &&
         !wire::IsLoopback(header.source) && !wire::IsLoopback(header.destination) &&
         !header.destination.IsUnspecified();
}

}  // namespace

Router::Router(const Node& node)
    : ports_(node.ports),
      table_(node.table),
      neighbours_(*node.neighbours),
      read_neighbours_(node.read_neighbours),
      seed_(std::hash<std::string>()(node.name)) {
  for (size_t port = 0; port < ports_.size(); ++port) {
    port_of_[ports_[port].ifindex] = port;
    min_mtu_ = std::min(min_mtu_, ports_[port].mtu);
  }
  errors_.SetLimits(table_.Limits());
}

size_t Router::Take(const Frame& frame, Outbox& outbox) {
  if (frame.bytes.size() < kEthernet) return kMalformed;
  if (MacAt(frame.bytes.data()) != ports_[frame.port].mac) return kNotUnicast;
  switch (wire::Load16(&frame.bytes[12])) {
    case wire::ether_type::kIpv4:
      return TakeIpv4(frame, outbox);
    case wire::ether_type::kIpv6:
      return TakeIpv6(frame, outbox);
    default:
      return TakeTagged(frame, outbox);
  }
}

// Handles a frame of another EtherType. A tag with a priority and no VLAN is removed, as by
// vlan_do_receive() of the kernel.
size_t Router::TakeTagged(const Frame& frame, Outbox& outbox) {
  const wire::LinkTag tag = wire::OuterTag(frame.bytes);
  if (tag.kind != wire::LinkTag::Kind::kVlan || tag.Id() != 0) return kForTheNode;
  const auto bytes = wire::PopTag(frame.bytes);
  return bytes ? Take({frame.port, *bytes, frame.now}, outbox) : size_t{kMalformed};
}

uint32_t Router::FlowHash(const wire::IpAddress& source, const wire::IpAddress& destination) const {
  return static_cast<uint32_t>(HashOf(destination, HashOf(source, seed_)) >> 32);
}

Router::Way Router::WayOf(const Hop& hop, const wire::IpAddress& destination) const {
  Way way{hop, hop.gateway.value_or(destination), SIZE_MAX, std::nullopt, std::nullopt};
  if (const auto port = port_of_.find(hop.ifindex); port != port_of_.end()) {
    way.port = port->second;
    way.mtu = ports_[port->second].mtu;
  }
  return way;
}

Router::Way Router::WayOf(const Found& found, const wire::IpAddress& destination,
                          size_t from) const {
  if (found.kind != Kind::kUp) return WayOf(found.hop, destination);
  return {found.hop, destination, min_mtu_, std::nullopt, from};
}

Router::Outcome Router::TakeIpv4(const Frame& frame, Outbox& outbox) {
  const wire::Bytes bytes = frame.bytes.subspan(kEthernet);
  const auto header = wire::Ipv4Header::Parse(bytes);
  if (!header) return kMalformed;
  const wire::Bytes packet = CheckedIpv4(*header, bytes);
  if (packet.empty()) return kMalformed;
  if (header->destination.IsMulticast()) return kNotUnicast;
  if (IsLimitedBroadcast(header->destination)) return kForTheNode;
  if (!IsForwardableIpv4(*header)) return kUnforwardable;
  const uint32_t hash = FlowHash(header->source, header->destination);
  const Found found = table_.Lookup(header->destination, hash);
  if (IsForTheNode(found)) return kForTheNode;
  if (table_.Lookup(header->source).kind == Kind::kLocal) return kUnforwardable;
  if (!AcceptsIpv4Options(packet.first(header->header_length).subspan(wire::Ipv4Header::kSize))) {
    return kUnforwardable;
  }
  if (found.kind != Kind::kForward && found.kind != Kind::kUp) {
    return RefuseIpv4(frame, *header, packet, found.kind, outbox);
  }
  return ForwardIpv4(frame, *header, packet, WayOf(found, header->destination, frame.port), outbox);
}

Router::Outcome Router::RefuseIpv4(const Frame& frame, const wire::Ipv4Header& header,
                                   wire::ConstBytes packet, Kind kind, Outbox& outbox) {
  if (kind == Kind::kBlackhole) return kRefused;
  const uint8_t code = kind == Kind::kUnreachable  ? icmp::kHost
                       : kind == Kind::kProhibited ? icmp::kProhibited
                                                   : icmp::kNetwork;
  errors_.SendIpv4({icmp::kUnreachable, code, 0}, header, packet, frame.now, outbox);
  return kind == Kind::kNone ? kNoRoute : kRefused;
}

Router::Outcome Router::ForwardIpv4(const Frame& frame, const wire::Ipv4Header& header,
                                    wire::Bytes packet, const Way& way, Outbox& outbox) {
  if (header.ttl <= 1) {
    errors_.SendIpv4({icmp::kTimeExceeded, 0, 0}, header, packet, frame.now, outbox);
    return kTtlExpired;
  }
  const bool is_too_long = packet.size() > way.mtu;
  if (is_too_long && header.dont_fragment) {
    errors_.SendIpv4({icmp::kUnreachable, icmp::kTooBig, static_cast<uint32_t>(way.mtu)}, header,
                     packet, frame.now, outbox);
    return kTooLong;
  }
  const uint16_t before = wire::Load16(&packet[8]);
  wire::Store8(&packet[8], static_cast<uint8_t>(header.ttl - 1));
  wire::Store16(&packet[10],
                wire::UpdateChecksum(header.checksum, before, wire::Load16(&packet[8])));
  if (!is_too_long) {
    return Emit(frame.bytes.first(kEthernet + packet.size()), wire::Family::kIpv4, way, frame.now,
                outbox);
  }
  Outcome outcome = kForwarded;
  wire::Bytes made;
  Fragment(
      header, packet, way.mtu,
      [&](size_t size) {
        made = outbox.Make(kEthernet + size);
        return made.subspan(kEthernet);
      },
      [&](wire::Bytes) { outcome = Emit(made, wire::Family::kIpv4, way, frame.now, outbox); });
  return outcome;
}

Router::Outcome Router::TakeIpv6(const Frame& frame, Outbox& outbox) {
  const wire::Bytes bytes = frame.bytes.subspan(kEthernet);
  const auto header = wire::Ipv6Header::Parse(bytes);
  if (!header) return kMalformed;
  const size_t size = wire::Ipv6Header::kSize + header->payload_length;
  if (size > bytes.size()) return kMalformed;
  if (header->destination.IsMulticast()) return kNotUnicast;
  if (!IsForwardableIpv6(*header)) return kUnforwardable;
  if (header->next_header == wire::ip_protocol::kHopByHop &&
      !AcceptsHopByHopOptions(bytes.first(size).subspan(wire::Ipv6Header::kSize))) {
    return kUnforwardable;
  }
  const uint32_t hash = FlowHash(header->source, header->destination);
  const Found found = table_.Lookup(header->destination, hash);
  if (IsForTheNode(found)) return kForTheNode;
  if (wire::IsLinkLocal(header->destination)) {  // the packet returns to the link of its arrival
    return ForwardIpv6(frame, *header, bytes.first(size),
                       WayOf({ports_[frame.port].ifindex, std::nullopt}, header->destination),
                       outbox);
  }
  // The router does not answer packets without a route: the kernel answers its own copies of these
  // packets, although it does not forward (ip6_pkt_drop()).
  if (found.kind == Kind::kNone) return kNoRoute;
  if (found.kind != Kind::kForward && found.kind != Kind::kUp) return kRefused;
  return ForwardIpv6(frame, *header, bytes.first(size),
                     WayOf(found, header->destination, frame.port), outbox);
}

Router::Outcome Router::ForwardIpv6(const Frame& frame, const wire::Ipv6Header& header,
                                    wire::Bytes packet, const Way& way, Outbox& outbox) {
  const auto answer = [&](const IcmpError& error) {
    errors_.SendIpv6(error, header, packet, ports_[frame.port].ifindex, frame.now, outbox);
  };
  if (header.hop_limit <= 1) {
    answer({icmpv6::kTimeExceeded, 0, 0});
    return kTtlExpired;
  }
  if (wire::IsLinkLocal(header.source) && way.port != frame.port) {
    answer({icmpv6::kUnreachable, icmpv6::kBeyondScope, 0});
    return kUnforwardable;
  }
  if (packet.size() > way.mtu) {
    answer({icmpv6::kPacketTooBig, 0, static_cast<uint32_t>(way.mtu)});
    return kTooLong;
  }
  wire::Store8(&packet[7], static_cast<uint8_t>(header.hop_limit - 1));
  return Emit(frame.bytes.first(kEthernet + packet.size()), wire::Family::kIpv6, way, frame.now,
              outbox);
}

// Returns the neighbour entry for the packet's next hop, or null. If the table has changed, reads
// the kernel's neighbours first. The reason: a neighbour may be held, so that packets wait for it
// (lab/upcalls.h), before a route to it is installed; when the router sees the route, it must also
// see that the neighbour is held.
Neighbour* Router::FindNeighbour(const Way& way) {
  const uint32_t version = table_.Version();
  if (read_neighbours_ && version != version_) read_neighbours_();
  version_ = version;
  return neighbours_.Find(way.hop.ifindex, way.neighbour);
}

Router::Outcome Router::Emit(wire::Bytes frame, wire::Family family, const Way& way, Instant now,
                             Outbox& outbox) {
  if (way.up_from) {
    outbox.PassUp(*way.up_from, frame.subspan(kEthernet), way.hop.ifindex);
    return kPassedUp;
  }
  Neighbour* const neighbour = FindNeighbour(way);
  const bool is_due =
      neighbour != nullptr && neighbour->is_stale && now - neighbour->asked >= kConfirmInterval;
  if (neighbour == nullptr || !way.port || is_due) {
    if (is_due) neighbour->asked = now;
    outbox.SendAsOwn(family, frame.subspan(kEthernet), way.hop.ifindex);
    return kResolving;
  }
  const bool is_ipv4 = family == wire::Family::kIpv4;
  wire::EthernetHeader{neighbour->mac, ports_[*way.port].mac,
                       is_ipv4 ? wire::ether_type::kIpv4 : wire::ether_type::kIpv6}
      .Write(frame);
  outbox.Send(*way.port, frame);
  return kForwarded;
}

}  // namespace viaduct::forward
