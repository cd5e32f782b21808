// The interface through which the agent receives requests and sends answers.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

namespace viaduct::guest::service {

class Transport {
 public:
  using Receiver = std::function<void(std::span<const std::byte>)>;
  virtual ~Transport() = default;
  // Returns a descriptor that is readable when Receive() has messages. Returns -1 if the transport
  // has no descriptor; in that case, the code that passes messages to the transport calls
  // Agent::Serve().
  virtual int fd() const = 0;
  virtual void Send(std::span<const std::byte> message) = 0;
  // Calls `each` for the messages that have arrived; a message is valid during the call. Returns
  // false if no more messages will arrive.
  virtual bool Receive(const Receiver& each) = 0;
};

}  // namespace viaduct::guest::service
