// The channel between the simulator and the agent inside a guest: its messages take no virtual
// time.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

namespace viaduct::guest {

// guest/agent/agent_protocol.h describes the messages; guest/agent/agent_frames.h splits them into
// frames for a guest's control interface. Messages arrive whole, once and in the order they were
// sent.
class AgentChannel {
 public:
  virtual ~AgentChannel() = default;
  // Largest message either side can send, in bytes; at most agent::kMaxMessage.
  virtual size_t MaxMessage() const = 0;
  // Delivers the message to the guest at the simulator's present instant or, if the guest has not
  // booted, when it has. May return before the guest has answered. Throws Error when the guest has
  // ended.
  virtual void Send(std::span<const std::byte> message) = 0;
  // Sets the callback for each message of the agent, which is called at the message's instant; the
  // bytes are valid during the call.
  virtual void SetReceiver(std::function<void(std::span<const std::byte>)> receiver) = 0;
  // Runs the guest at the present instant until it waits, and passes its agent's messages to the
  // receiver before returning. For requests whose answer is needed at once (a bound port). Returns
  // false and does nothing while the guest has not booted. The receiver must not call it.
  virtual bool Settle() = 0;
};

}  // namespace viaduct::guest
