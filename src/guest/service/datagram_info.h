// The metadata of received bytes for the event kData.
#pragma once

#include <sys/socket.h>

#include <span>

#include "guest/agent/agent_protocol.h"
#include "guest/service/agent.h"

namespace viaduct::guest::service {

// Posts the event kData with those parts that are present: the sender, the metadata from the
// control messages, and the bytes or (if `zeros`) their number.
void PostData(Agent& agent, uint32_t socket, const agent::Endpoint& sender, const msghdr& header,
              std::span<const std::byte> bytes, bool zeros);

}  // namespace viaduct::guest::service
