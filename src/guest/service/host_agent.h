// An agent in the simulator's process, whose sockets are sockets of the host's kernel: the
// applications of a simulation have these sockets in network namespaces of this machine.
#pragma once

#include <memory>

#include "guest/agent/agent_channel.h"
#include "guest/service/agent.h"
#include "guest/service/sockets.h"

namespace viaduct::guest::service {

// The channel to the agent in the simulator's process. Send() carries out the requests of a message
// before it returns. Work() reports later events of the sockets.
class HostAgent final : public AgentChannel {
 public:
  explicit HostAgent(Sockets::Opener open);
  ~HostAgent() override;

  // Returns a descriptor that is readable when Work() has events to handle.
  int fd() const { return agent_.fd(); }
  // Handles the sockets that are ready, without waiting, and passes their events to the receiver.
  // Calls Agent::RunOnce() at most kBurst times, so that a caller that also sends does not send
  // many messages for each message that it reads. Returns false if there were no events. Throws
  // Error if descriptors or memory are exhausted.
  bool Work();
  static constexpr int kBurst = 256;

  size_t MaxMessage() const override { return agent::kMaxMessage; }
  void Send(std::span<const std::byte> message) override;
  void SetReceiver(std::function<void(std::span<const std::byte>)> receiver) override;
  bool Settle() override { return true; }

 private:
  class Link;

  Link* link_;  // owned by agent_
  Agent agent_;
  Sockets sockets_;
};

}  // namespace viaduct::guest::service
