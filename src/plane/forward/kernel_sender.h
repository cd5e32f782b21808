// A sender of packets that a node's kernel sends on behalf of the node's forwarder, through raw
// sockets (raw(7)).
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/wire/address.h"
#include "base/wire/bytes.h"
#include "sys/network/link.h"

namespace viaduct::forward {

// Sends packets through the node's kernel and never blocks. Packets that the kernel refuses (no
// route, full buffers) are lost.
class KernelSender {
 public:
  // Takes raw sockets: `ipv4` and `ipv6` of IPPROTO_RAW, `icmpv6` of IPPROTO_ICMPV6. If a
  // descriptor is empty, packets of its kind are not sent. `own`: the node's addresses.
  KernelSender(UniqueFd ipv4, UniqueFd ipv6, UniqueFd icmpv6,
               std::vector<sys::InterfaceAddress> own)
      : ipv4_(std::move(ipv4)),
        ipv6_(std::move(ipv6)),
        icmpv6_(std::move(icmpv6)),
        own_(std::move(own)) {}

  // Sends an IP packet as described at Carrier::SendAsOwn(). Returns whether the kernel accepted
  // the packet.
  bool SendIpv4(wire::ConstBytes packet, uint32_t ifindex);
  bool SendIpv6(wire::ConstBytes packet, uint32_t ifindex);
  // Sends an ICMPv6 message from an address of the interface `ifindex`, if a suitable one exists,
  // as the kernel sends its own errors (icmp6_send() of net/ipv6/icmp.c); else the kernel chooses
  // the source address.
  bool SendIcmpv6(const wire::IpAddress& destination, wire::ConstBytes message, uint32_t ifindex);

 private:
  std::optional<wire::IpAddress> SourceFor(const wire::IpAddress& destination,
                                           uint32_t ifindex) const;

  UniqueFd ipv4_, ipv6_, icmpv6_;
  std::vector<sys::InterfaceAddress> own_;
};

}  // namespace viaduct::forward
