// The state of an interface, for a port that sends without the kernel's checks: whether the
// interface exists and has a carrier, and the maximum length of its frames.
#pragma once

#include <time.h>

#include <cstddef>
#include <cstdint>

#include "base/wire/bytes.h"
#include "base/wire/ethernet.h"
#include "port/interface.h"
#include "port/port.h"

namespace viaduct::io {

// Whether an interface with this MTU takes a frame, by the rule of packet sockets: one 802.1Q tag
// does not count towards the MTU (net/packet/af_packet.c). An MTU of 0 means that there is no
// interface.
inline bool FitsMtu(FrameToSend frame, uint32_t mtu) {
  constexpr size_t kHeader = wire::EthernetHeader::kSize;
  if (mtu == 0 || frame.size() < kHeader) return false;
  const bool has_tag = wire::Load16(frame.data() + 12) == wire::ether_type::kVlan;
  return frame.size() <= mtu + kHeader + (has_tag ? wire::VlanTag::kSize : 0);
}

// Returns the time of a coarse clock, which changes every 1 to 10 ms. Makes no system call.
inline int64_t CoarseTick() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return now.tv_sec * int64_t{1000000000} + now.tv_nsec;
}

// The state of an interface at the last Poll(). Used by one thread.
class InterfaceWatch {
 public:
  // `control`: a socket of the interface's network namespace, which must outlive this object.
  InterfaceWatch(int control, int ifindex) : control_(control), ifindex_(ifindex) {}

  // Reads the state from the kernel, unless it was read during the same tick of the coarse clock (1
  // to 10 ms): a system call for each burst would cost more than the frames of short bursts.
  // `with_state`: also reads whether the interface is up and has a carrier; otherwise assumes that
  // it is up and has a carrier.
  void Poll(bool with_state) {
    const int64_t tick = CoarseTick();
    if (tick == looked_) return;
    looked_ = tick;
    mtu_ = InterfaceMtuNow(control_, ifindex_);
    is_down_ = with_state && !InterfaceIsUp(control_, ifindex_);
  }
  // Whether the interface would have taken the frame at the last Poll().
  bool Takes(FrameToSend frame) const { return !is_down_ && FitsMtu(frame, mtu_); }

 private:
  int control_, ifindex_;
  int64_t looked_ = 0;
  uint32_t mtu_ = 0;
  bool is_down_ = false;
};

}  // namespace viaduct::io
