// The metadata of received datagrams, read from the kernel's control messages.
#pragma once

#include <sys/socket.h>

#include "guest/agent/agent_protocol.h"

namespace viaduct::guest::agent {

// Reads the control messages of a received datagram (IP_PKTINFO, IP_RECVTTL, IP_RECVTOS and their
// IPv6 counterparts) into `info`; returns false if there are no such messages.
bool ReadPacketInfo(const msghdr& header, PacketInfo* info);

}  // namespace viaduct::guest::agent
