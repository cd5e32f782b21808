// Packet sockets of the benchmark programs, opened in the network namespace in which the program
// runs.
#pragma once

#include <cstdint>
#include <string>

#include "base/fd.h"

namespace viaduct::bench {

// Returns the index of an interface. Throws SystemError.
int InterfaceIndex(const std::string& name);

// Opens a socket AF_PACKET, SOCK_RAW with protocol 0 that is not bound, as io::RingPort requires.
UniqueFd OpenPacketSocket();
// Opens a packet socket that is bound to an interface and receives all frames of the interface.
// ns-3's EmuFdNetDeviceHelper gets such a socket from a suid program, but the path of that program
// is not part of ns-3's installed files.
UniqueFd OpenBoundPacketSocket(const std::string& interface);

// The numbers of packets that the kernel has delivered to a packet socket, or dropped for lack of
// buffer space, since the previous call of CountPackets().
struct PacketCount {
  uint64_t given = 0, dropped = 0;
};
PacketCount CountPackets(int socket);  // throws SystemError

}  // namespace viaduct::bench
