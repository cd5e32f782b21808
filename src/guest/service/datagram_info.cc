#include "guest/service/datagram_info.h"

#include "guest/agent/packet_info.h"

namespace viaduct::guest::service {

using agent::BytesOf;

void PostData(Agent& agent, uint32_t socket, const agent::Endpoint& sender, const msghdr& header,
              std::span<const std::byte> bytes, bool zeros) {
  agent::PacketInfo info;
  const bool with_info = agent::ReadPacketInfo(header, &info);
  const bool with_sender = sender.family != AF_UNSPEC;
  const uint64_t count = bytes.size();
  const std::span<const std::byte> nothing;
  const uint16_t flags = (zeros ? agent::kZeros : 0) | (with_sender ? agent::kToEndpoint : 0) |
                         (with_info ? agent::kWithInfo : 0);
  agent.Post(agent::Code::kData, socket, 0,
             {with_sender ? BytesOf(sender) : nothing, with_info ? BytesOf(info) : nothing,
              zeros ? BytesOf(count) : bytes},
             flags);
}

}  // namespace viaduct::guest::service
