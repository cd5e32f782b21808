// Link-local, loopback and broadcast addresses.
#pragma once

#include <optional>

#include "base/wire/address.h"

namespace viaduct::wire {

// Whether an address is an IPv6 link-local address, in fe80::/10 (RFC 4291 section 2.5.6). False
// for every IPv4 address.
inline bool IsLinkLocal(const IpAddress& address) {
  return address.family == Family::kIpv6 && address.bytes[0] == 0xFE &&
         (address.bytes[1] & 0xC0) == 0x80;
}

// Returns the MAC address from which an IPv6 link-local address was made (modified EUI-64, RFC 4291
// appendix A); nothing for an address that was not made from a MAC address.
inline std::optional<MacAddress> MacOfLinkLocal(const IpAddress& address) {
  const auto& bytes = address.bytes;
  if (!IsLinkLocal(address) || bytes[11] != 0xFF || bytes[12] != 0xFE) return std::nullopt;
  constexpr uint8_t kUniversal = 0x02;  // the universal/local bit, which modified EUI-64 inverts
  return MacAddress{{static_cast<uint8_t>(bytes[8] ^ kUniversal), bytes[9], bytes[10], bytes[13],
                     bytes[14], bytes[15]}};
}

// Whether an address is a loopback address: in 127.0.0.0/8, or ::1.
inline bool IsLoopback(const IpAddress& address) {
  if (address.family == Family::kIpv4) return address.bytes[0] == 127;
  IpAddress one{Family::kIpv6, {}};
  one.bytes[15] = 1;
  return address == one;
}

// Returns the broadcast address of an IPv4 network: the address whose host bits are all one.
inline IpAddress BroadcastOf(const IpPrefix& network) {
  IpAddress broadcast = network.address;
  for (int bit = network.length; bit < 32; ++bit) {
    broadcast.bytes[static_cast<size_t>(bit / 8)] |= static_cast<uint8_t>(0x80 >> (bit % 8));
  }
  return broadcast;
}

}  // namespace viaduct::wire
