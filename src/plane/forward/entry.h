// A forwarding table's entry for a destination prefix.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/wire/address.h"

namespace viaduct::forward {

struct Hop {
  uint32_t ifindex = 0;  // the outgoing interface
  // The neighbour to which the packet is sent; empty if the packet's destination is the neighbour.
  std::optional<wire::IpAddress> gateway;
  friend auto operator<=>(const Hop&, const Hop&) = default;
};

enum class Kind : uint8_t {
  kNone,         // no entry
  kForward,      // forwarded to a neighbour
  kLocal,        // to an address of the node, whose kernel receives the packet
  kBroadcast,    // to a broadcast address of the node, whose kernel receives the packet
  kUnreachable,  // refused with an ICMP error: host unreachable
  kProhibited,   // refused with an ICMP error: administratively prohibited
  kBlackhole,    // dropped
  kUp,           // no route: sent to the TUN device of the simulator, whose protocol decides
};

// A forwarding decision; if it has several hops, flows are spread over them.
struct Entry {
  Kind kind = Kind::kNone;
  std::vector<Hop> hops;  // for kForward and kUp, at least one and at most kMaxHops
  friend auto operator<=>(const Entry&, const Entry&) = default;
};

inline constexpr size_t kMaxHops = 64;

// The limits on a node's rate of ICMP errors, from its kernel's parameters (described in
// ip-sysctl.rst of the kernel's documentation).
struct IcmpLimits {
  uint32_t ipv4_interval_ms = 1000;  // net.ipv4.icmp_ratelimit: interval per destination
  uint32_t ipv4_types = 0x1818;      // net.ipv4.icmp_ratemask: the types that are limited
  uint32_t ipv6_interval_ms = 1000;  // net.ipv6.icmp.ratelimit
  uint32_t ipv6_types = 0xB;         // net.ipv6.icmp.ratemask: the limited types from 0 to 31
  friend bool operator==(const IcmpLimits&, const IcmpLimits&) = default;
};

}  // namespace viaduct::forward
