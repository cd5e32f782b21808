// The ICMP errors that a router sends for packets that it cannot forward (RFC 792, 1812, 4443), as
// the kernel sends them.
#pragma once

#include <cstdint>

#include "base/wire/bytes.h"
#include "base/wire/ip.h"
#include "plane/forward/entry.h"
#include "plane/forward/outbox.h"
#include "plane/forward/rate_limit.h"

namespace viaduct::forward {

// IANA's ICMP and ICMPv6 types and codes.
namespace icmp {
inline constexpr uint8_t kUnreachable = 3, kTimeExceeded = 11;
inline constexpr uint8_t kNetwork = 0, kHost = 1, kTooBig = 4, kProhibited = 13;
}  // namespace icmp
namespace icmpv6 {
inline constexpr uint8_t kUnreachable = 1, kPacketTooBig = 2, kTimeExceeded = 3;
inline constexpr uint8_t kBeyondScope = 2;
}  // namespace icmpv6

// The fields of an ICMP error. `mtu`: the MTU of a "too big" error, else 0.
struct IcmpError {
  uint8_t type = 0;
  uint8_t code = 0;
  uint32_t mtu = 0;
};

// Sends ICMP errors where they are allowed: not about ICMP errors, not about fragments except the
// first, and not more often than the limits allow.
class IcmpErrors {
 public:
  void SetLimits(const IcmpLimits& limits) { limits_ = limits; }

  // Sends an error about `packet`, which is the unchanged IP packet with its header.
  void SendIpv4(const IcmpError& error, const wire::Ipv4Header& header, wire::ConstBytes packet,
                Instant now, Outbox& outbox);
  void SendIpv6(const IcmpError& error, const wire::Ipv6Header& header, wire::ConstBytes packet,
                uint32_t ifindex, Instant now, Outbox& outbox);

 private:
  bool IsAllowedIpv4(const IcmpError& error, const wire::IpAddress& to, Instant now);
  bool IsAllowedIpv6(const IcmpError& error, const wire::IpAddress& to, Instant now);

  IcmpLimits limits_;
  // Bursts: XRLIM_BURST_FACTOR of net/ipv4/icmp.c, and ip_rt_error_burst of net/ipv4/route.c, which
  // is applied first for packets without a route.
  RateLimit ipv4_{6}, ipv4_unrouted_{5}, ipv6_{6};
};

}  // namespace viaduct::forward
