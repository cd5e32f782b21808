// Packet sockets (packet(7)), as io::RingPort wants them.
#pragma once

#include <cstdint>
#include <string>

#include "base/fd.h"

namespace viaduct::sys {

struct PacketSocket {
  UniqueFd fd;
  int ifindex = 0;
};

// An AF_PACKET SOCK_RAW socket in the calling thread's namespace that sees no frame yet (protocol
// 0, not bound), with large buffers; of frames that come in only. `promiscuous`: the interface
// takes in frames for other stations as long as the socket is open. Throws SystemError.
PacketSocket OpenPacketSocket(const std::string& interface, bool promiscuous);

// Gives a socket room for a burst of a few thousand full frames, beyond the system's limit where
// that is permitted (CAP_NET_ADMIN). Throws SystemError.
void EnlargeBuffers(int fd);

// Binds a socket of OpenPacketSocket(): from now on it sees the frames of this type (host order;
// ETH_P_ALL: all) on this interface. Throws SystemError.
void BindPacketSocket(int fd, int ifindex, uint16_t ether_type);

// Sends past the interface's queueing discipline and its classifiers (PACKET_QDISC_BYPASS). Throws
// SystemError.
void BypassQdisc(int fd);

}  // namespace viaduct::sys
