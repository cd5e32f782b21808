#include "guest/time/kernel_sockets.h"

namespace viaduct::guest {

KernelSockets::KernelSockets(Calendar& calendar, Guest& guest)
    : calendar_(calendar), guest_(guest) {
  calendar_.SetSockets(
      guest_, [this](std::byte* memory) { return AfterRun(memory); },
      [this] { return ring_ && ring_->Keeps(); });
}

KernelSockets::~KernelSockets() { calendar_.SetSockets(guest_, {}, {}); }

bool KernelSockets::AfterRun(std::byte* memory) {
  if (!ring_) ring_.emplace(memory);
  ring_->Take([this](SocketEvent event) {
    if (receiver_) receiver_(std::move(event));
  });
  return ring_->Refill();
}

bool KernelSockets::ServesMessages() const {
  return Available() && calendar_.ServesMessages(guest_);
}

void KernelSockets::Put(const SocketOperation& operation,
                        std::initializer_list<std::span<const std::byte>> parts) {
  calendar_.RunNow(guest_, [&] { ring_->Put(operation, parts); });
}

}  // namespace viaduct::guest
