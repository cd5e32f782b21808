// The network interface of a guest through which its agent communicates: the interface has no link
// and takes no virtual time.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <span>
#include <vector>

#include "guest/agent/agent_channel.h"
#include "guest/agent/agent_frames.h"
#include "guest/time/calendar.h"
#include "guest/time/guest.h"
#include "guest/virtio/nic.h"

namespace viaduct::guest {

// The control interface of a guest. The constructor adds the interface to the guest; it must be the
// guest's first interface (eth0).
class ControlNic final : public AgentChannel {
 public:
  // The MTU of the control interface in bytes, which the guest receives as VIADUCT_CONTROL_MTU.
  static constexpr size_t kMtu = 16384;

  ControlNic(Calendar& calendar, Guest& guest);
  ControlNic(const ControlNic&) = delete;
  ControlNic& operator=(const ControlNic&) = delete;

  // Returns whether the agent has sent kHello.
  bool agent_ready() const { return agent_ready_; }

  size_t MaxMessage() const override;
  void Send(std::span<const std::byte> message) override;
  void SetReceiver(std::function<void(std::span<const std::byte>)> receiver) override {
    receiver_ = std::move(receiver);
  }
  bool Settle() override;

 private:
  void HandFrame(std::span<const std::byte> frame);
  void SendWaiting();

  Calendar& calendar_;
  Guest& guest_;
  Nic& nic_;
  std::function<void(std::span<const std::byte>)> receiver_;
  agent::FrameSplitter splitter_;
  agent::FrameAssembler assembler_;
  // Frames that wait until the agent is ready and the guest's ring has space.
  std::deque<std::vector<std::byte>> to_guest_;
  bool agent_ready_ = false;
  bool retrying_ = false;
  int retries_ = 0;
};

}  // namespace viaduct::guest
