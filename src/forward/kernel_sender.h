// Packets that a node's kernel sends on behalf of its forwarder, through raw sockets (raw(7)).
#pragma once

#include "base/fd.h"
#include "wire/address.h"
#include "wire/bytes.h"

namespace viaduct::forward {

// Never blocks. What the kernel refuses (no route, its buffers are full) is lost.
class KernelSender {
 public:
  // Sockets of IPPROTO_RAW and IPPROTO_ICMPV6; empty ones send nothing.
  KernelSender(UniqueFd ipv4, UniqueFd ipv6, UniqueFd icmpv6)
      : ipv4_(std::move(ipv4)), ipv6_(std::move(ipv6)), icmpv6_(std::move(icmpv6)) {}

  // As Carrier says. Returns whether the kernel took it.
  bool SendIpv4(wire::ConstBytes packet, uint32_t ifindex);
  bool SendIpv6(wire::ConstBytes packet, uint32_t ifindex);
  bool SendIcmpv6(const wire::IpAddress& destination, wire::ConstBytes message, uint32_t ifindex);

 private:
  UniqueFd ipv4_, ipv6_, icmpv6_;
};

}  // namespace viaduct::forward
