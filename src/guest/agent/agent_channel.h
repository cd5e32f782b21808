// The way between the simulator and the agent inside a guest: messages that take no virtual time.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

namespace viaduct::guest {

// A message is what guest/agent/agent_protocol.h describes; on a guest's control interface it
// travels as guest/agent/agent_frames.h cuts it. Messages arrive whole, once and in the order they
// were sent.
class AgentChannel {
 public:
  virtual ~AgentChannel() = default;
  // Largest message either side can send, in bytes; at most agent::kMaxMessage.
  virtual size_t MaxMessage() const = 0;
  // Hands the message to the guest at the simulator's present instant, or, where the guest has not
  // booted, when it has. May return before the guest has answered. Throws Error when the guest is
  // gone.
  virtual void Send(std::span<const std::byte> message) = 0;
  // Called with each message of the agent, at its instant; the bytes are lent for the call.
  virtual void SetReceiver(std::function<void(std::span<const std::byte>)> receiver) = 0;
  // Lets the guest work at the present instant until it waits, and hands what its agent says to the
  // receiver before it returns. For questions whose answer is needed at once (a bound port). False,
  // and nothing happens, while the guest has not booted. Not to be called by the receiver.
  virtual bool Settle() = 0;
};

}  // namespace viaduct::guest
