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
  std::string bind;       // source address; empty: chosen by the route
  std::string interface;  // for packets to a multicast group; empty: chosen by the route
  int size = 160;         // UDP payload, bytes
  bool frames = false;    // whole frames past the kernel's IP stack (FrameWay); not to a group
};

struct SendResult : Paced {
  uint32_t flow = 0;
  Refusals refused;
  // The packets of any program that the interfaces of this network namespace dropped meanwhile when
  // sending: the kernel counts such packets as sent.
  uint64_t interface_drops = 0;
};

// Sends until done or `stop`, then sends end markers. Above about 5,000 packets per second it needs
// a separate core. A packet that cannot be sent now (no route, link down, no buffers) is refused
// and counted, from the first one on. Throws SystemError if the socket cannot be created, and if no
// packet can ever be sent (too long, not permitted).
SendResult Send(const SendOptions& options, const std::atomic<bool>& stop);

}  // namespace viaduct::load
