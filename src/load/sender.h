// The sending half of viaduct-load.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "load/pace.h"
#include "load/socket.h"

namespace viaduct::load {

struct SendOptions : PaceOptions {
  Endpoint to;
  std::string bind;  // source address; empty: chosen by the route
  int size = 160;    // UDP payload, bytes
};

struct SendResult : Paced {
  uint32_t flow = 0;
  uint64_t errors = 0;  // the kernel refused (no buffers, unreachable, connection refused)
};

// Sends until done or `stop`, then sends end markers. Above about 5,000 packets per second it needs
// a core of its own. Throws SystemError if the socket cannot be created.
SendResult Send(const SendOptions& options, const std::atomic<bool>& stop);

}  // namespace viaduct::load
