// Link-layer and IP addresses as value types. Their bytes are in network order.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace viaduct::wire {

struct MacAddress {
  std::array<uint8_t, 6> bytes{};
  // Parses an address such as "02:00:00:00:00:01". Throws UsageError.
  static MacAddress Parse(std::string_view text);
  std::string ToString() const;
  bool IsMulticast() const { return (bytes[0] & 1) != 0; }  // true for broadcast, too
  friend auto operator<=>(const MacAddress&, const MacAddress&) = default;
};

enum class Family : uint8_t { kIpv4 = 4, kIpv6 = 6 };

// An IPv4 or IPv6 address; an IPv4 address uses the first four bytes, all others are zero.
struct IpAddress {
  Family family = Family::kIpv4;
  std::array<uint8_t, 16> bytes{};
  // Parses an address such as "10.0.0.1" or "2001:db8::1". Throws UsageError.
  static IpAddress Parse(std::string_view text);
  static IpAddress FromIpv4(uint32_t host_order);
  std::string ToString() const;
  int Length() const { return family == Family::kIpv4 ? 4 : 16; }  // number of bytes
  bool IsMulticast() const;
  bool IsUnspecified() const;
  friend auto operator<=>(const IpAddress&, const IpAddress&) = default;
};

// An address with a prefix length ("10.0.0.1/24"). The host bits are kept, so that an IpPrefix can
// also be an interface's address; Network() clears them.
struct IpPrefix {
  IpAddress address;
  int length = 0;                                // bits
  static IpPrefix Parse(std::string_view text);  // a text without "/N" gives a host prefix
  std::string ToString() const;
  IpPrefix Network() const;
  bool Contains(const IpAddress& address) const;
  friend auto operator<=>(const IpPrefix&, const IpPrefix&) = default;
};

}  // namespace viaduct::wire
