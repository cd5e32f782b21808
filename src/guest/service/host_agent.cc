#include "guest/service/host_agent.h"

#include <utility>

namespace viaduct::guest::service {

// A transport between two ends in one process, which passes a message by a function call.
class HostAgent::Link : public Transport {
 public:
  int fd() const override { return -1; }
  void Send(std::span<const std::byte> message) override {
    if (receiver) receiver(message);
  }
  bool Receive(const Receiver& each) override {
    each(request);
    return true;
  }

  std::span<const std::byte> request;
  Receiver receiver;
};

HostAgent::HostAgent(Sockets::Opener open)
    : link_(new Link),
      agent_(std::unique_ptr<Transport>(link_)),
      sockets_(agent_, std::move(open)) {}

HostAgent::~HostAgent() = default;

bool HostAgent::Work() {
  int rounds = 0;
  while (rounds < kBurst && agent_.RunOnce(Duration())) ++rounds;
  return rounds > 0;
}

void HostAgent::Send(std::span<const std::byte> message) {
  link_->request = message;
  agent_.Serve();
}

void HostAgent::SetReceiver(std::function<void(std::span<const std::byte>)> receiver) {
  link_->receiver = std::move(receiver);
}

}  // namespace viaduct::guest::service
