// The sending half of viaduct-load.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "run/load/pace.h"
#include "run/load/refusals.h"
#include "run/load/socket.h"

namespace viaduct::load {

struct SendOptions : PaceOptions {
  Endpoint to;
  std::string bind;       // source address; empty: the route selects it
  std::string interface;  // for packets to a multicast group; empty: the route selects it
  int size = 160;         // bytes of UDP payload
  // Whether complete frames are sent, bypassing the kernel's IP stack (FrameWay); not to a
  // multicast group.
  bool frames = false;
};

struct SendResult : Paced {
  uint32_t flow = 0;
  Refusals refused;
  // The number of packets of all programs that the interfaces of this network namespace dropped on
  // sending during the flow: the kernel counts these packets as sent.
  uint64_t interface_drops = 0;
};

// Sends until the flow is complete or `stop` is set, then sends end markers. Above about 5,000
// packets per second the function needs a separate core. A packet that cannot be sent now (no
// route, link down, no buffers) is refused and counted, also if no packet was sent before. Throws
// SystemError if the socket cannot be created, or if no packet can ever be sent (too long, not
// permitted).
SendResult Send(const SendOptions& options, const std::atomic<bool>& stop);

}  // namespace viaduct::load
