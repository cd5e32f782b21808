#include "base/wire/layers.h"

#include "base/wire/ethernet.h"
#include "base/wire/ip.h"

namespace viaduct::wire {
namespace {

IpLayers LayersOf(const Ipv4Header& header, size_t end) {
  return {.family = Family::kIpv4,
          .network = 0,
          .transport = header.header_length,
          .end = end,
          .protocol = header.protocol,
          .fragment = header.IsFragment()};
}

std::optional<IpLayers> FindIpv4(ConstBytes packet) {
  const auto header = Ipv4Header::Parse(packet);
  if (!header || header->total_length > packet.size()) return std::nullopt;
  return LayersOf(*header, header->total_length != 0 ? header->total_length : packet.size());
}

bool IsSkippedExtension(uint8_t protocol) {
  return protocol == ip_protocol::kHopByHop || protocol == ip_protocol::kRouting ||
         protocol == ip_protocol::kDestinationOptions;
}

// Skips the extension headers of an IPv6 packet (RFC 8200 section 4). Each header begins with the
// type of the next header, and its own length in units of 8 bytes, without its first 8 bytes. The
// loop terminates because each step advances at least 8 bytes.
std::optional<IpLayers> BehindExtensions(ConstBytes packet, IpLayers layers) {
  while (IsSkippedExtension(layers.protocol)) {
    if (layers.transport + 8 > layers.end) return std::nullopt;
    const std::byte* const at = packet.data() + layers.transport;
    layers.protocol = Load8(at);
    layers.transport += 8 * (size_t{Load8(at + 1)} + 1);
    layers.extension_headers = true;
    if (layers.transport > layers.end) return std::nullopt;
  }
  if (layers.protocol == ip_protocol::kFragment) {
    if (layers.transport + 8 > layers.end) return std::nullopt;
    layers.protocol = Load8(packet.data() + layers.transport);
    layers.transport += 8;
    layers.fragment = true;
    layers.extension_headers = true;
  }
  return layers;
}

IpLayers LayersOf(const Ipv6Header& header, size_t end) {
  return {.family = Family::kIpv6,
          .network = 0,
          .transport = Ipv6Header::kSize,
          .end = end,
          .protocol = header.next_header};
}

std::optional<IpLayers> FindIpv6(ConstBytes packet) {
  const auto header = Ipv6Header::Parse(packet);
  if (!header || Ipv6Header::kSize + header->payload_length > packet.size()) return std::nullopt;
  const size_t end =
      header->payload_length != 0 ? Ipv6Header::kSize + header->payload_length : packet.size();
  return BehindExtensions(packet, LayersOf(*header, end));
}

IpAddress AddressAt(ConstBytes frame, const IpLayers& layers, size_t ipv4, size_t ipv6) {
  const size_t offset = layers.family == Family::kIpv4 ? ipv4 : ipv6;
  return LoadAddress(layers.family, frame.data() + layers.network + offset);
}

}  // namespace

IpAddress IpLayers::Source(ConstBytes frame) const { return AddressAt(frame, *this, 12, 8); }
IpAddress IpLayers::Destination(ConstBytes frame) const { return AddressAt(frame, *this, 16, 24); }

std::optional<LinkLayer> FindLink(ConstBytes frame) {
  const auto ethernet = EthernetHeader::Parse(frame);
  if (!ethernet) return std::nullopt;
  LinkLayer link{ethernet->type, EthernetHeader::kSize};
  while (link.ether_type == ether_type::kVlan || link.ether_type == ether_type::kServiceVlan) {
    const auto tag = VlanTag::Parse(frame.subspan(link.size));
    if (!tag) return std::nullopt;
    link.ether_type = tag->type;
    link.size += VlanTag::kSize;
  }
  return link;
}

std::optional<IpLayers> FindIpLayersInPacket(ConstBytes packet) {
  if (packet.empty()) return std::nullopt;
  return Load8(packet.data()) >> 4 == 6 ? FindIpv6(packet) : FindIpv4(packet);
}

std::optional<IpLayers> FindIpLayersInQuotation(ConstBytes start) {
  if (start.empty()) return std::nullopt;
  if (Load8(start.data()) >> 4 == 6) {
    const auto header = Ipv6Header::Parse(start);
    return header ? BehindExtensions(start, LayersOf(*header, start.size())) : std::nullopt;
  }
  const auto header = Ipv4Header::Parse(start);
  return header ? std::optional(LayersOf(*header, start.size())) : std::nullopt;
}

std::optional<IpLayers> FindIpLayers(ConstBytes frame) {
  const auto link = FindLink(frame);
  if (!link) return std::nullopt;
  const ConstBytes packet = frame.subspan(link->size);
  std::optional<IpLayers> layers;
  if (link->ether_type == ether_type::kIpv4) layers = FindIpv4(packet);
  if (link->ether_type == ether_type::kIpv6) layers = FindIpv6(packet);
  if (!layers) return std::nullopt;
  layers->network += link->size;
  layers->transport += link->size;
  layers->end += link->size;
  return layers;
}

}  // namespace viaduct::wire
