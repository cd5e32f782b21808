// Marks on packets by which eBPF programs in the kernel distinguish the packets of a forwarder in
// user space (src/plane/bpf/upcall.h has the same numbers).
#pragma once

#include <cstdint>

namespace viaduct::sys {

// The Ethernet type of packets that are passed to the simulator through its TUN device. Their mark
// (SO_MARK) is the ifindex of the interface on which they arrived.
inline constexpr uint16_t kPassedUp = 0x88b5;
// The mark of packets that the node's kernel sends on behalf of the forwarder, and not of a
// program.
inline constexpr uint32_t kForwardedMark = 0x56644657;

}  // namespace viaduct::sys
