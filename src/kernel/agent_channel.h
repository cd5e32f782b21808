// The way between the simulator and the agent inside a guest: messages that take no virtual time.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

namespace viaduct::kernel {

class AgentChannel {
 public:
  virtual ~AgentChannel() = default;
  // Largest message either side can send, in bytes.
  virtual size_t MaxMessage() const = 0;
  // Hands the message to the guest at the simulator's present instant. May return before the guest
  // has answered. Throws Error when the guest is gone.
  virtual void Send(std::span<const std::byte> message) = 0;
  // Called with each message of the agent, at its instant; the bytes are lent for the call.
  virtual void SetReceiver(std::function<void(std::span<const std::byte>)> receiver) = 0;
};

}  // namespace viaduct::kernel
