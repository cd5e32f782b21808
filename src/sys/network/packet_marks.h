// The marks by which programs in the kernel distinguish the packets of a forwarder in userspace
// (src/plane/bpf/upcall.h has the same numbers).
#pragma once

#include <cstdint>

namespace viaduct::sys {

// The Ethernet type of packets that go up to the simulator through its TUN device. Their mark
// (SO_MARK) is the ifindex of the interface on which they arrived.
inline constexpr uint16_t kPassedUp = 0x88b5;
// The mark of packets that the node's kernel sends for the forwarder, and not for a program.
inline constexpr uint32_t kForwardedMark = 0x56644657;

}  // namespace viaduct::sys
