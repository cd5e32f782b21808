// Packet sockets (packet(7)) for io::RingPort.
#pragma once

#include <cstdint>
#include <string>

#include "base/fd.h"

namespace viaduct::sys {

struct PacketSocket {
  UniqueFd fd;
  int ifindex = 0;
};

// Opens an AF_PACKET SOCK_RAW socket in the calling thread's namespace, with large buffers, for
// incoming frames only. The socket receives no frame yet (protocol 0, not bound). `promiscuous`:
// the interface also receives frames for other stations as long as the socket is open. Throws
// SystemError.
PacketSocket OpenPacketSocket(const std::string& interface, bool promiscuous);

// Enlarges a socket's buffers for a burst of a few thousand full frames, beyond the system's limit
// if that is permitted (CAP_NET_ADMIN). Throws SystemError.
void EnlargeBuffers(int fd);

// Binds a socket of OpenPacketSocket(), so that the socket receives the frames of this EtherType
// (host byte order; ETH_P_ALL: all frames) on this interface. Throws SystemError.
void BindPacketSocket(int fd, int ifindex, uint16_t ether_type);

// Makes the socket bypass the interface's queueing discipline and its classifiers when it sends
// (PACKET_QDISC_BYPASS). Throws SystemError.
void BypassQdisc(int fd);

}  // namespace viaduct::sys
