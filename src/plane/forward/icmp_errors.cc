#include "plane/forward/icmp_errors.h"

#include <algorithm>

#include "base/wire/checksum.h"
#include "base/wire/layers.h"

namespace viaduct::forward {
namespace {

constexpr size_t kIcmpHeader = 8;
// The maximum lengths of ICMP error packets: RFC 1812 section 4.3.2.3, RFC 4443 section 2.4(c).
constexpr size_t kMaxIpv4Length = 576, kMaxIpv6Length = 1280;
constexpr uint8_t kInternetControl = 0xC0, kTypeOfService = 0x1E;  // bits of an IPv4 header's TOS
constexpr uint8_t kInformational = 128;                   // the first ICMPv6 type that is no error
constexpr auto kUnroutedInterval = Duration::Seconds(1);  // ip_rt_error_cost of net/ipv4/route.c

// Returns whether the ICMP type is marked as an error in icmp_pointers[] of net/ipv4/icmp.c, or is
// unknown.
bool IsError(uint8_t type) {
  constexpr uint8_t kLast = 18;  // NR_ICMP_TYPES
  return type == 3 || type == 4 || type == 5 || type == 11 || type == 12 || type > kLast;
}

bool MayAnswerIpv4(const wire::Ipv4Header& header, wire::ConstBytes packet) {
  if (header.fragment_offset != 0) return false;
  if (header.protocol != wire::ip_protocol::kIcmp) return true;
  return packet.size() > header.header_length &&
         !IsError(wire::Load8(packet.data() + header.header_length));
}

// Returns whether an IPv6 packet is a fragment, but not the first. `layers`: the packet's layers,
// of which the fragment header is the last before the transport header.
bool IsLaterFragment(wire::ConstBytes packet, const wire::IpLayers& layers) {
  constexpr size_t kFromEnd = 6;
  constexpr uint16_t kOffset = 0xFFF8;
  return (wire::Load16(packet.data() + layers.transport - kFromEnd) & kOffset) != 0;
}

bool MayAnswerIpv6(const wire::Ipv6Header& header, wire::ConstBytes packet) {
  if (header.source.IsUnspecified() || header.source.IsMulticast()) return false;
  const auto layers = wire::FindIpLayersInPacket(packet);
  if (!layers || layers->protocol != wire::ip_protocol::kIcmpv6) return true;
  // A fragment other than the first may be answered: only the first fragment has an ICMPv6 type, by
  // which an ICMPv6 error is recognised (is_ineligible() of net/ipv6/icmp.c).
  if (layers->fragment && IsLaterFragment(packet, *layers)) return true;
  return layers->transport < packet.size() &&
         wire::Load8(packet.data() + layers->transport) >= kInformational;
}

void WriteIcmp(wire::Bytes message, const IcmpError& error, wire::ConstBytes quoted) {
  std::ranges::fill(message.first(kIcmpHeader), std::byte{0});
  wire::Store8(message.data(), error.type);
  wire::Store8(message.data() + 1, error.code);
  wire::Store32(message.data() + 4, error.mtu);
  std::ranges::copy(quoted, message.begin() + kIcmpHeader);
}

}  // namespace

bool IcmpErrors::IsAllowedIpv4(const IcmpError& error, const wire::IpAddress& to, Instant now) {
  const bool is_unreachable = error.type == icmp::kUnreachable;
  if (is_unreachable && error.code == icmp::kTooBig) return true;
  if (is_unreachable && !ipv4_unrouted_.Allows(to, kUnroutedInterval, now)) return false;
  if ((limits_.ipv4_types >> error.type & 1) == 0) return true;
  return ipv4_.Allows(to, Duration::Milliseconds(limits_.ipv4_interval_ms), now);
}

bool IcmpErrors::IsAllowedIpv6(const IcmpError& error, const wire::IpAddress& to, Instant now) {
  if ((limits_.ipv6_types >> error.type & 1) == 0) return true;
  return ipv6_.Allows(to, Duration::Milliseconds(limits_.ipv6_interval_ms), now);
}

void IcmpErrors::SendIpv4(const IcmpError& error, const wire::Ipv4Header& header,
                          wire::ConstBytes packet, Instant now, Outbox& outbox) {
  if (!MayAnswerIpv4(header, packet) || !IsAllowedIpv4(error, header.source, now)) return;
  constexpr size_t kBefore = wire::Ipv4Header::kSize + kIcmpHeader;
  const wire::ConstBytes quoted = packet.first(std::min(packet.size(), kMaxIpv4Length - kBefore));
  const wire::Bytes answer = outbox.Make(kBefore + quoted.size());
  wire::Ipv4Header outer;  // the kernel fills in the source address and the identification
  outer.tos = static_cast<uint8_t>((header.tos & kTypeOfService) | kInternetControl);
  outer.total_length = static_cast<uint16_t>(answer.size());
  outer.protocol = wire::ip_protocol::kIcmp;
  outer.destination = header.source;
  outer.Write(answer);
  const wire::Bytes message = answer.subspan(wire::Ipv4Header::kSize);
  WriteIcmp(message, error, quoted);
  wire::Store16(message.data() + 2, wire::InternetChecksum(message));
  outbox.SendAsOwn(wire::Family::kIpv4, answer);
}

void IcmpErrors::SendIpv6(const IcmpError& error, const wire::Ipv6Header& header,
                          wire::ConstBytes packet, uint32_t ifindex, Instant now, Outbox& outbox) {
  if (!MayAnswerIpv6(header, packet) || !IsAllowedIpv6(error, header.source, now)) return;
  constexpr size_t kBefore = wire::Ipv6Header::kSize + kIcmpHeader;
  const wire::ConstBytes quoted = packet.first(std::min(packet.size(), kMaxIpv6Length - kBefore));
  const wire::Bytes message = outbox.Make(kIcmpHeader + quoted.size());
  WriteIcmp(message, error, quoted);
  outbox.SendIcmpv6(header.source, message, ifindex);
}

}  // namespace viaduct::forward
