// VXLAN: Ethernet frames in UDP datagrams (RFC 7348).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/wire/bytes.h"

namespace viaduct::wire {

inline constexpr uint16_t kVxlanPort = 4789;  // RFC 7348 section 5

// The bytes that surround an Ethernet frame's payload on an IPv4 network: IP, UDP and VXLAN
// headers, and its own Ethernet header.
inline constexpr int kVxlanOverhead = 20 + 8 + 8 + 14;
// The bytes that surround it on an IPv6 network.
inline constexpr int kVxlanOverIpv6Overhead = kVxlanOverhead + 20;

// The header between the UDP header and the frame, which is without FCS (RFC 7348 section 5).
// Reserved bits are sent as zero and ignored on receipt.
struct VxlanHeader {
  static constexpr size_t kSize = 8;
  static constexpr uint32_t kMaxVni = 0xffffff;
  uint32_t vni = 0;  // VXLAN network identifier, 24 bits

  // Returns nothing if the bytes are too short, or the flag I is not set: no identifier.
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
