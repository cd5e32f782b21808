// Packets that leave a kernel's data plane upwards, through a TUN device: those without a route,
// and copies of some that have one.
//
// Two eBPF classifiers (net/sched/cls_bpf.c) do it. One is on the TUN device and costs other
// packets nothing: it writes into each IPv4 packet on which interface it came in, in the place of
// the header's checksum, which the kernel has verified and the reader can compute. The other is on
// the interfaces: of each flow it sends one packet per interval up as a copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/time.h"

namespace viaduct::sys {

// Where a packet that went up was in the kernel.
struct UpcallOrigin {
  int ifindex = 0;       // it came in on this interface; 0: a program of the node sent it
  bool is_copy = false;  // the kernel has forwarded, delivered or sent it
  friend bool operator==(const UpcallOrigin&, const UpcallOrigin&) = default;
};

// Reads the origin of an IPv4 packet of at least 20 bytes and sets the header's checksum to 0.
UpcallOrigin TakeUpcallOrigin(std::span<std::byte> packet);

// Makes the TUN device write origins. Indices of interfaces must be less than 32,768. Throws
// EnvironmentError if the kernel cannot.
void MarkUpcalls(int namespace_fd, int tun_ifindex);

// Makes these Ethernet interfaces copy the IPv4 packets that come in, and those that programs of
// the namespace send, to the TUN device: of each pair of source and destination, the first and then
// one per interval. At most 65,536 pairs are remembered. Throws EnvironmentError if the kernel
// cannot.
void CopyFlows(int namespace_fd, const std::vector<int>& ifindexes, int tun_ifindex,
               Duration interval);

}  // namespace viaduct::sys
