#include "port/control/control_frames.h"

#include "base/wire/checksum.h"
#include "base/wire/ethernet.h"
#include "base/wire/ip.h"
#include "base/wire/transport.h"

namespace viaduct::io {
namespace {

// Returns the memory of a payload, extended to include a header of `size` bytes before the payload.
FrameMemory Grow(const FrameMemory& payload, size_t size) {
  return {payload.memory, payload.offset - size, payload.size + size};
}

wire::Bytes Whole(const FrameMemory& frame) {
  return frame.memory.subspan(frame.offset, frame.size);
}

wire::Bytes AddEthernet(const FrameMemory& packet, const Delivery& delivery,
                        const wire::MacAddress& own) {
  const FrameMemory frame = Grow(packet, wire::EthernetHeader::kSize);
  const bool ipv4 = delivery.source.family == wire::Family::kIpv4;
  wire::EthernetHeader{DestinationMac(delivery, own), PlaceholderMac(delivery.source),
                       ipv4 ? wire::ether_type::kIpv4 : wire::ether_type::kIpv6}
      .Write(Whole(frame));
  return Whole(frame);
}

wire::Bytes AddIp(const FrameMemory& segment, const Delivery& delivery, const wire::MacAddress& own,
                  uint8_t protocol, uint16_t id) {
  if (delivery.source.family == wire::Family::kIpv6) {
    return BuildIpv6Frame(segment, delivery, own, protocol);
  }
  const FrameMemory packet = Grow(segment, wire::Ipv4Header::kSize);
  wire::Ipv4Header{.tos = delivery.traffic_class,
                   .total_length = static_cast<uint16_t>(packet.size),
                   .id = id,
                   .ttl = delivery.ttl,
                   .protocol = protocol,
                   .source = delivery.source,
                   .destination = delivery.destination}
      .Write(Whole(packet));
  return AddEthernet(packet, delivery, own);
}

}  // namespace

wire::MacAddress PlaceholderMac(const wire::IpAddress& address) {
  const uint8_t* const end = address.bytes.data() + address.Length();
  const uint8_t fifth = address.family == wire::Family::kIpv4 ? 0 : end[-5];
  return {{0x02, fifth, end[-4], end[-3], end[-2], end[-1]}};
}

wire::MacAddress DestinationMac(const Delivery& delivery, const wire::MacAddress& own) {
  if (delivery.destination.IsMulticast()) return wire::MulticastMac(delivery.destination);
  return delivery.broadcast ? wire::kBroadcastMac : own;
}

wire::Bytes BuildUdpFrame(const FrameMemory& payload, const Delivery& delivery,
                          const wire::MacAddress& own, uint16_t source_port,
                          uint16_t destination_port, uint16_t id) {
  const FrameMemory segment = Grow(payload, wire::UdpHeader::kSize);
  const wire::Bytes bytes = Whole(segment);
  wire::UdpHeader{source_port, destination_port, static_cast<uint16_t>(segment.size), 0}.Write(
      bytes);
  wire::Store16(bytes.data() + wire::UdpHeader::kChecksumOffset,
                wire::TransportChecksum(delivery.source, delivery.destination,
                                        wire::ip_protocol::kUdp, bytes));
  return AddIp(segment, delivery, own, wire::ip_protocol::kUdp, id);
}

wire::Bytes BuildIpv4Frame(const FrameMemory& payload, const Delivery& delivery,
                           const wire::MacAddress& own) {
  return AddEthernet(payload, delivery, own);
}

wire::Bytes BuildIpv6Frame(const FrameMemory& payload, const Delivery& delivery,
                           const wire::MacAddress& own, uint8_t protocol) {
  const FrameMemory packet = Grow(payload, wire::Ipv6Header::kSize);
  wire::Ipv6Header{.traffic_class = delivery.traffic_class,
                   .payload_length = static_cast<uint16_t>(payload.size),
                   .next_header = protocol,
                   .hop_limit = delivery.ttl,
                   .source = delivery.source,
                   .destination = delivery.destination}
      .Write(Whole(packet));
  return AddEthernet(packet, delivery, own);
}

}  // namespace viaduct::io
