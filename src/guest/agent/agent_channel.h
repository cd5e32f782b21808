// The channel that carries messages between the simulator and the agent inside a guest; messages
// take no virtual time.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

namespace viaduct::guest {

// A channel of messages, which guest/agent/agent_protocol.h describes; guest/agent/agent_frames.h
// splits them into frames for a guest's control interface. Each message arrives complete and
// exactly once, and messages arrive in the order in which they were sent.
class AgentChannel {
 public:
  virtual ~AgentChannel() = default;
  // The maximum size in bytes of a message, in either direction; at most agent::kMaxMessage.
  virtual size_t MaxMessage() const = 0;
  // Delivers the message to the guest at the simulator's present instant or, if the guest has not
  // booted yet, when it has booted. May return before the guest has answered. Throws Error if the
  // guest has ended.
  virtual void Send(std::span<const std::byte> message) = 0;
  // Sets the callback that receives each message of the agent. The callback is called at the
  // instant at which the agent sent the message; the bytes are valid during the call.
  virtual void SetReceiver(std::function<void(std::span<const std::byte>)> receiver) = 0;
  // Runs the guest at the present instant until it waits, and passes its agent's messages to the
  // receiver before returning. Used for requests whose answer is needed at once, such as a request
  // for the port to which a socket is bound. Returns false and does nothing while the guest has not
  // booted. The receiver must not call this function.
  virtual bool Settle() = 0;
};

}  // namespace viaduct::guest
