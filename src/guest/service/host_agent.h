// An agent in the simulator's own process, whose sockets are the host's: the applications of a
// simulation have sockets in namespaces of this machine.
#pragma once

#include <memory>

#include "guest/agent/agent_channel.h"
#include "guest/service/agent.h"
#include "guest/service/sockets.h"

namespace viaduct::guest::service {

// Carries out requests while they are sent. Later events of the sockets are reported by Work().
class HostAgent final : public AgentChannel {
 public:
  explicit HostAgent(Sockets::Opener open);
  ~HostAgent() override;

  // Readable when Work() has something to do.
  int fd() const { return agent_.fd(); }
  // Handles the sockets that are ready, without waiting, and passes their events to the receiver:
  // up to kBurst messages of each, so that one loop that also sends does not send many for each one
  // that it reads. Returns false if there were none. Throws Error when descriptors or memory are
  // used up.
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
