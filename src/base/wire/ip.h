// IPv4 (RFC 791) and IPv6 (RFC 8200) headers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/wire/address.h"
#include "base/wire/bytes.h"

namespace viaduct::wire {

// IANA protocol numbers.
namespace ip_protocol {
inline constexpr uint8_t kHopByHop = 0;
inline constexpr uint8_t kIcmp = 1;
inline constexpr uint8_t kIgmp = 2;
inline constexpr uint8_t kIpv4 = 4;  // IPv4 in IP
inline constexpr uint8_t kTcp = 6;
inline constexpr uint8_t kUdp = 17;
inline constexpr uint8_t kIpv6 = 41;
inline constexpr uint8_t kRouting = 43;
inline constexpr uint8_t kFragment = 44;
inline constexpr uint8_t kGre = 47;
inline constexpr uint8_t kIcmpv6 = 58;
inline constexpr uint8_t kNoNext = 59;
inline constexpr uint8_t kDestinationOptions = 60;
inline constexpr uint8_t kOspf = 89;
}  // namespace ip_protocol

IpAddress LoadAddress(Family family, const std::byte* at);
// Writes the bytes of an address: address.Length() bytes.
void StoreAddress(std::byte* at, const IpAddress& address);

struct Ipv4Header {
  static constexpr size_t kSize = 20;  // bytes of the header without options
  uint8_t header_length = kSize;       // bytes, options included
  uint8_t tos = 0;                     // DSCP and ECN
  uint16_t total_length = kSize;       // bytes; 0 in super-frames over 65535 bytes (BIG TCP)
  uint16_t id = 0;
  bool dont_fragment = false;
  bool more_fragments = false;
  uint16_t fragment_offset = 0;  // in units of 8 bytes
  uint8_t ttl = 64;
  uint8_t protocol = 0;
  uint16_t checksum = 0;  // set by Parse(); ignored by Write()
  IpAddress source;
  IpAddress destination;

  // Returns nothing unless version and lengths are consistent and the complete header is present;
  // checks neither the checksum nor whether the packet is complete.
  static std::optional<Ipv4Header> Parse(ConstBytes bytes);
  // Writes header_length bytes with the correct checksum. Options, if any, are written as zeros
  // (end of options).
  size_t Write(Bytes bytes) const;
  bool IsFragment() const { return more_fragments || fragment_offset != 0; }
  friend bool operator==(const Ipv4Header&, const Ipv4Header&) = default;
};

// Sets the checksum of the IPv4 header at the start of `bytes`, which Parse() must have accepted.
void SetIpv4Checksum(Bytes bytes);

struct Ipv6Header {
  static constexpr size_t kSize = 40;
  uint8_t traffic_class = 0;
  uint32_t flow_label = 0;  // 20 bits
  // The number of bytes after the IPv6 header, extension headers included; 0 in super-frames over
  // 65535 bytes.
  uint16_t payload_length = 0;
  uint8_t next_header = ip_protocol::kNoNext;
  uint8_t hop_limit = 64;
  IpAddress source;
  IpAddress destination;

  static std::optional<Ipv6Header> Parse(ConstBytes bytes);
  size_t Write(Bytes bytes) const;
  friend bool operator==(const Ipv6Header&, const Ipv6Header&) = default;
};

}  // namespace viaduct::wire
