// The metadata of received bytes, for the event kData.
#pragma once

#include <sys/socket.h>

#include <span>

#include "guest/agent/agent_protocol.h"
#include "guest/service/agent.h"

namespace viaduct::guest::service {

// The control messages of a received datagram (IP_PKTINFO, IP_RECVTTL, IP_RECVTOS and their IPv6
// counterparts); false if there are none.
bool ReadPacketInfo(const msghdr& header, agent::PacketInfo* info);

// Posts kData with the parts that are present: the sender, the control messages, the bytes or their
// number.
void PostData(Agent& agent, uint32_t socket, const agent::Endpoint& sender, const msghdr& header,
              std::span<const std::byte> bytes, bool zeros);

}  // namespace viaduct::guest::service
