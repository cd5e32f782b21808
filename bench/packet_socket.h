// Packet sockets of the benchmark programs, opened in the network namespace the program runs in.
#pragma once

#include <cstdint>
#include <string>

#include "base/fd.h"

namespace viaduct::bench {

// Interface index; throws SystemError.
int InterfaceIndex(const std::string& name);

// AF_PACKET, SOCK_RAW, protocol 0, not bound: what io::RingPort takes.
UniqueFd OpenPacketSocket();
// Bound to every frame of the interface, as ns-3's EmuFdNetDeviceHelper does by way of its
// suid program, whose path the development kit does not have.
UniqueFd OpenBoundPacketSocket(const std::string& interface);

// The packets that the kernel has delivered to a packet socket or dropped for lack of space, since
// the last call.
struct PacketCount {
  uint64_t given = 0, dropped = 0;
};
PacketCount CountPackets(int socket);  // throws SystemError

}  // namespace viaduct::bench
