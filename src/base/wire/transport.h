// UDP (RFC 768), TCP (RFC 9293), ICMP (RFC 792) and ICMPv6 (RFC 4443) headers.
//
// Write() stores the member `checksum` unchanged, because the checksum also covers the payload:
// base/wire/checksum.h computes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/wire/bytes.h"

namespace viaduct::wire {

struct UdpHeader {
  static constexpr size_t kSize = 8;
  static constexpr size_t kChecksumOffset = 6;
  uint16_t source_port = 0;
  uint16_t destination_port = 0;
  uint16_t length = kSize;  // bytes of the header and the payload
  uint16_t checksum = 0;

  static std::optional<UdpHeader> Parse(ConstBytes bytes);
  size_t Write(Bytes bytes) const;
  friend bool operator==(const UdpHeader&, const UdpHeader&) = default;
};

namespace tcp_flag {
inline constexpr uint8_t kFin = 0x01;
inline constexpr uint8_t kSyn = 0x02;
inline constexpr uint8_t kRst = 0x04;
inline constexpr uint8_t kPsh = 0x08;
inline constexpr uint8_t kAck = 0x10;
inline constexpr uint8_t kUrg = 0x20;
inline constexpr uint8_t kEce = 0x40;
inline constexpr uint8_t kCwr = 0x80;
}  // namespace tcp_flag

struct TcpHeader {
  static constexpr size_t kSize = 20;  // bytes of the header without options
  static constexpr size_t kChecksumOffset = 16;
  uint16_t source_port = 0;
  uint16_t destination_port = 0;
  uint32_t sequence = 0;
  uint32_t acknowledgment = 0;
  uint8_t header_length = kSize;  // bytes, options included
  uint8_t flags = 0;              // flags of tcp_flag
  uint16_t window = 0;
  uint16_t checksum = 0;
  uint16_t urgent_pointer = 0;

  static std::optional<TcpHeader> Parse(ConstBytes bytes);
  // Writes header_length bytes. Options, if any, are written as zeros (end of options).
  size_t Write(Bytes bytes) const;
  friend bool operator==(const TcpHeader&, const TcpHeader&) = default;
};

// The header of ICMP and ICMPv6 messages.
struct IcmpHeader {
  static constexpr size_t kSize = 8;
  static constexpr size_t kChecksumOffset = 2;
  uint8_t type = 0;
  uint8_t code = 0;
  uint16_t checksum = 0;
  uint32_t rest = 0;  // bytes 4 to 7: identifier and sequence number of an echo, MTU, unused...

  static std::optional<IcmpHeader> Parse(ConstBytes bytes);
  size_t Write(Bytes bytes) const;
  friend bool operator==(const IcmpHeader&, const IcmpHeader&) = default;
};

}  // namespace viaduct::wire
