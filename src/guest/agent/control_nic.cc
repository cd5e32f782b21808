#include "guest/agent/control_nic.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "guest/agent/agent_protocol.h"

namespace viaduct::guest {
namespace {

// The MAC address of the control interface. Any address is suitable, because the interface only
// carries frames to and from the agent.
const wire::MacAddress kMac{{0x02, 0, 0, 0, 0x88, 0xb5}};
// The maximum number of retries to send to a full ring, after which the agent is considered stuck.
constexpr int kMaxRetries = 10'000;
constexpr int kRetriesAtOnce = 10;

}  // namespace

ControlNic::ControlNic(Calendar& calendar, Guest& guest)
    : calendar_(calendar), guest_(guest), nic_(guest.AddNic(kMac, false)), splitter_(kMtu) {
  nic_.SetTransmit([this](std::span<const std::byte> frame, Nic::Token token) {
    nic_.TransmitDone(token);
    HandFrame(frame);
  });
}

size_t ControlNic::MaxMessage() const { return agent::kMaxMessage; }

void ControlNic::Send(std::span<const std::byte> message) {
  splitter_.Split(message, [this](std::span<const std::byte> frame) {
    to_guest_.emplace_back(frame.begin(), frame.end());
  });
  if (agent_ready_) SendWaiting();
}

// Sends the queued frames. Frames that do not fit in the guest's ring are sent again when the guest
// has run: first at the same instant, then at increasing intervals, because the agent may be
// waiting for virtual time (removing a namespace's devices waits for a grace period).
void ControlNic::SendWaiting() {
  while (!to_guest_.empty() && nic_.Deliver(to_guest_.front())) {
    to_guest_.pop_front();
    retries_ = 0;
  }
  if (to_guest_.empty() || std::exchange(retrying_, true)) return;
  if (++retries_ > kMaxRetries)
    throw Error("kernel " + guest_.name() +
                ": the agent does not read the messages that are sent to it");
  const Duration later = Duration::Microseconds(std::max(0, retries_ - kRetriesAtOnce));
  calendar_.Schedule(calendar_.Present() + later, [this] {
    retrying_ = false;
    SendWaiting();
  });
}

void ControlNic::HandFrame(std::span<const std::byte> frame) {
  // The guest's kernel also sends frames of its own (multicast listener reports), which are
  // ignored.
  const auto message = assembler_.Add(frame);
  if (!message) return;
  // The agent's first message shows that it is ready.
  if (!std::exchange(agent_ready_, true)) SendWaiting();
  if (receiver_) receiver_(*message);
}

bool ControlNic::Settle() {
  if (!agent_ready_ || !calendar_.Settle(guest_)) return false;
  nic_.HandTransmits();
  return true;
}

}  // namespace viaduct::guest
