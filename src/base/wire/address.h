// Link-layer and IP addresses as values. Bytes are in network order.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace viaduct::wire {

struct MacAddress {
  std::array<uint8_t, 6> bytes{};
  // "02:00:00:00:00:01". Throws UsageError.
  static MacAddress Parse(std::string_view text);
  std::string ToString() const;
  bool IsMulticast() const { return (bytes[0] & 1) != 0; }  // includes broadcast
  friend auto operator<=>(const MacAddress&, const MacAddress&) = default;
};

enum class Family : uint8_t { kIpv4 = 4, kIpv6 = 6 };

// An IPv4 or IPv6 address; an IPv4 address uses the first four bytes, the rest are zero.
struct IpAddress {
  Family family = Family::kIpv4;
  std::array<uint8_t, 16> bytes{};
  // "10.0.0.1" or "2001:db8::1". Throws UsageError.
  static IpAddress Parse(std::string_view text);
  static IpAddress FromIpv4(uint32_t host_order);
  std::string ToString() const;
  int Length() const { return family == Family::kIpv4 ? 4 : 16; }  // bytes
  bool IsMulticast() const;
  bool IsUnspecified() const;
  friend auto operator<=>(const IpAddress&, const IpAddress&) = default;
};

// An address with a prefix length ("10.0.0.1/24"). The host bits are kept, so that it also serves
// for interface addresses; Network() clears them.
struct IpPrefix {
  IpAddress address;
  int length = 0;                                // bits
  static IpPrefix Parse(std::string_view text);  // a missing "/N" is a host prefix
  std::string ToString() const;
  IpPrefix Network() const;
  bool Contains(const IpAddress& address) const;
  friend auto operator<=>(const IpPrefix&, const IpPrefix&) = default;
};

}  // namespace viaduct::wire
