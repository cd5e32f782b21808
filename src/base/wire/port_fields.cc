#include "base/wire/port_fields.h"

#include "base/wire/checksum.h"
#include "base/wire/ip.h"
#include "base/wire/layers.h"
#include "base/wire/transport.h"

namespace viaduct::wire {
namespace {

constexpr size_t kPortsSize = 4;  // bytes of both ports, with which UDP and TCP headers begin

// Whether a packet is a fragment other than the first. The fragment offset of IPv4 is in units of 8
// bytes; the fragment offset of IPv6 is in the header before the fragmented part.
bool IsLaterFragment(ConstBytes packet, const IpLayers& layers) {
  if (!layers.fragment) return false;
  if (layers.family == Family::kIpv4) {
    return (Load16(packet.data() + layers.network + 6) & 0x1fff) != 0;
  }
  return (Load16(packet.data() + layers.transport - 6) & 0xfff8) != 0;
}

// Returns the ports of a packet whose transport header begins at `transport` and whose available
// bytes end at `end`.
std::optional<PortFields> FieldsAt(const IpAddress& source, const IpAddress& destination,
                                   uint8_t protocol, size_t transport, size_t end) {
  if (protocol != ip_protocol::kUdp && protocol != ip_protocol::kTcp) return std::nullopt;
  if (transport + kPortsSize > end) return std::nullopt;
  PortFields fields{source, destination, protocol, transport, std::nullopt};
  const size_t checksum = transport + (protocol == ip_protocol::kUdp ? UdpHeader::kChecksumOffset
                                                                     : TcpHeader::kChecksumOffset);
  if (checksum + sizeof(uint16_t) <= end) fields.checksum = checksum;
  return fields;
}

bool IsError(uint8_t protocol, uint8_t type) {
  if (protocol == ip_protocol::kIcmpv6) return type >= 1 && type < 128;
  // ICMP types: unreachable, source quench, redirect, time exceeded, parameter problem.
  return type == 3 || type == 4 || type == 5 || type == 11 || type == 12;
}

// Returns the ports of the quoted packet at `at`, which may be cut off anywhere after its IP
// header.
std::optional<PortFields> QuotedAt(ConstBytes frame, size_t at, size_t end, Family family) {
  const ConstBytes quoted = frame.subspan(at, end - at);
  const auto layers = FindIpLayersInQuotation(quoted);
  if (!layers || layers->family != family || IsLaterFragment(quoted, *layers)) return std::nullopt;
  return FieldsAt(layers->Source(quoted), layers->Destination(quoted), layers->protocol,
                  at + layers->transport, end);
}

void UpdateField(Bytes frame, size_t field, uint16_t before, uint16_t after) {
  std::byte* const at = frame.data() + field;
  Store16(at, UpdateChecksum(Load16(at), before, after));
}

void SetPort(Bytes frame, const PortFields& fields, size_t at, uint16_t port) {
  const uint16_t before = Load16(frame.data() + at);
  Store16(frame.data() + at, port);
  if (fields.icmp) UpdateField(frame, *fields.icmp, before, port);
  if (!fields.checksum) return;
  std::byte* const checksum = frame.data() + *fields.checksum;
  const uint16_t covered = Load16(checksum);
  const bool is_udp = fields.protocol == ip_protocol::kUdp;
  if (is_udp && covered == 0) return;  // RFC 768: 0 means that there is no checksum
  const uint16_t updated = UpdateChecksum(covered, before, port);
  Store16(checksum, is_udp && updated == 0 ? 0xffff : updated);
  if (fields.icmp) UpdateField(frame, *fields.icmp, covered, Load16(checksum));
}

}  // namespace

std::optional<PortFields> FindPorts(ConstBytes frame) {
  const auto layers = FindIpLayers(frame);
  if (!layers || IsLaterFragment(frame, *layers)) return std::nullopt;
  return FieldsAt(layers->Source(frame), layers->Destination(frame), layers->protocol,
                  layers->transport, layers->end);
}

std::optional<PortFields> FindQuotedPorts(ConstBytes frame) {
  const auto layers = FindIpLayers(frame);
  if (!layers || layers->fragment) return std::nullopt;
  const uint8_t icmp = layers->family == Family::kIpv4 ? ip_protocol::kIcmp : ip_protocol::kIcmpv6;
  if (layers->protocol != icmp || layers->transport + IcmpHeader::kSize > layers->end) {
    return std::nullopt;
  }
  if (!IsError(icmp, Load8(frame.data() + layers->transport))) return std::nullopt;
  auto fields = QuotedAt(frame, layers->transport + IcmpHeader::kSize, layers->end, layers->family);
  if (fields) fields->icmp = layers->transport + IcmpHeader::kChecksumOffset;
  return fields;
}

void SetSourcePort(Bytes frame, const PortFields& fields, uint16_t port) {
  SetPort(frame, fields, fields.ports, port);
}

void SetDestinationPort(Bytes frame, const PortFields& fields, uint16_t port) {
  SetPort(frame, fields, fields.ports + 2, port);
}

}  // namespace viaduct::wire
