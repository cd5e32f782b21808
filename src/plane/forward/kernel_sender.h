// Packets that a node's kernel sends on behalf of its forwarder, through raw sockets (raw(7)).
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "base/wire/address.h"
#include "base/wire/bytes.h"
#include "sys/network/link.h"

namespace viaduct::forward {

// Never blocks. Packets that the kernel refuses (no route, full buffers) are lost.
class KernelSender {
 public:
  // Takes sockets of IPPROTO_RAW and IPPROTO_ICMPV6; empty ones send nothing. `own`: the node's
  // addresses.
  KernelSender(UniqueFd ipv4, UniqueFd ipv6, UniqueFd icmpv6,
               std::vector<sys::InterfaceAddress> own)
      : ipv4_(std::move(ipv4)),
        ipv6_(std::move(ipv6)),
        icmpv6_(std::move(icmpv6)),
        own_(std::move(own)) {}

  // Sends as Carrier::SendAsOwn(). Returns whether the kernel accepted the packet.
  bool SendIpv4(wire::ConstBytes packet, uint32_t ifindex);
  bool SendIpv6(wire::ConstBytes packet, uint32_t ifindex);
  // Sends from an address of the interface `ifindex`, as the kernel sends its own errors
  // (icmp6_send() of net/ipv6/icmp.c), if a suitable one exists; else the kernel chooses.
  bool SendIcmpv6(const wire::IpAddress& destination, wire::ConstBytes message, uint32_t ifindex);

 private:
  std::optional<wire::IpAddress> SourceFor(const wire::IpAddress& destination,
                                           uint32_t ifindex) const;

  UniqueFd ipv4_, ipv6_, icmpv6_;
  std::vector<sys::InterfaceAddress> own_;
};

}  // namespace viaduct::forward
