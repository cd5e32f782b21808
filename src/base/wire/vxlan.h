// VXLAN: Ethernet frames in UDP datagrams (RFC 7348).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/wire/bytes.h"

namespace viaduct::wire {

inline constexpr uint16_t kVxlanPort = 4789;  // from RFC 7348 section 5

// The number of bytes before the payload of an Ethernet frame in VXLAN over IPv4: the outer IP, UDP
// and VXLAN headers, and the frame's Ethernet header.
inline constexpr int kVxlanOverhead = 20 + 8 + 8 + 14;
// The number of bytes before the payload of an Ethernet frame in VXLAN over IPv6.
inline constexpr int kVxlanOverIpv6Overhead = kVxlanOverhead + 20;

// The VXLAN header, between the UDP header and an Ethernet frame without FCS (RFC 7348 section 5).
// Reserved bits are sent as zero and ignored when received.
struct VxlanHeader {
  static constexpr size_t kSize = 8;
  static constexpr uint32_t kMaxVni = 0xffffff;
  uint32_t vni = 0;  // VXLAN network identifier, 24 bits

  // Returns nothing if the bytes are too short, or if the flag I is not set, so that there is no
  // VXLAN network identifier.
  static std::optional<VxlanHeader> Parse(ConstBytes bytes) {
    if (bytes.size() < kSize || (Load8(bytes.data()) & kFlagI) == 0) return std::nullopt;
    return VxlanHeader{Load32(bytes.data() + 4) >> 8};
  }
  size_t Write(Bytes bytes) const {
    Store32(bytes.data(), uint32_t{kFlagI} << 24);
    Store32(bytes.data() + 4, vni << 8);
    return kSize;
  }
  friend bool operator==(const VxlanHeader&, const VxlanHeader&) = default;

 private:
  static constexpr uint8_t kFlagI = 0x08;
};

}  // namespace viaduct::wire
