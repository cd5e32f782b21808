#include "path/packet/ecn.h"

#include "base/wire/checksum.h"
#include "base/wire/ethernet.h"
#include "base/wire/ip.h"
#include "base/wire/layers.h"

namespace viaduct::path {
namespace {

constexpr uint16_t kMask = 3;  // RFC 3168 section 5: 0 not ECT, 1 ECT(1), 2 ECT(0), 3 CE

// Marks an IPv4 packet. DSCP and ECN are at the end of the header's first word.
bool MarkIpv4(wire::Bytes packet) {
  if (packet.size() < wire::Ipv4Header::kSize) return false;
  std::byte* const at = packet.data();
  const uint16_t word = wire::Load16(at);
  if (word >> 12 != 4 || (word & kMask) == 0) return false;
  const uint16_t marked = word | kMask;
  if (marked == word) return true;
  wire::Store16(at, marked);
  wire::Store16(at + 10, wire::UpdateChecksum(wire::Load16(at + 10), word, marked));
  return true;
}

// Marks an IPv6 packet. The header's first word: version (4 bits), traffic class (8), flow label (4
// of 20).
bool MarkIpv6(wire::Bytes packet) {
  if (packet.size() < wire::Ipv6Header::kSize) return false;
  const uint16_t word = wire::Load16(packet.data());
  if (word >> 12 != 6 || (word >> 4 & kMask) == 0) return false;
  wire::Store16(packet.data(), static_cast<uint16_t>(word | kMask << 4));
  return true;
}

}  // namespace

unsigned EcnOf(std::span<const std::byte> frame) {
  const auto link = wire::FindLink(frame);
  if (!link || frame.size() < link->size + 2) return 0;
  const uint16_t word = wire::Load16(frame.data() + link->size);
  if (link->ether_type == wire::ether_type::kIpv4 && word >> 12 == 4) return word & kMask;
  if (link->ether_type == wire::ether_type::kIpv6 && word >> 12 == 6) return word >> 4 & kMask;
  return 0;
}

bool MarkCongestionExperienced(std::span<std::byte> frame) {
  const auto link = wire::FindLink(frame);
  if (!link) return false;
  const wire::Bytes packet = frame.subspan(link->size);
  if (link->ether_type == wire::ether_type::kIpv4) return MarkIpv4(packet);
  if (link->ether_type == wire::ether_type::kIpv6) return MarkIpv6(packet);
  return false;
}

bool Mark(Packet& packet, FrameStore& store) {
  if (!MarkCongestionExperienced(store.Bytes(packet.frame))) return false;
  packet.marked = true;
  return true;
}

}  // namespace viaduct::path
