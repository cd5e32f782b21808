// The sending half of viaduct-load.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "base/histogram.h"
#include "base/time.h"
#include "load/socket.h"

namespace viaduct::load {

struct SendOptions {
  Endpoint to;
  std::string bind;            // source address; empty: the route's
  int size = 160;              // UDP payload, bytes
  std::optional<double> rate;  // packets a second; absent: as fast as the kernel takes them
  Duration duration;
  std::optional<uint64_t> count;  // stop after this many, if sooner
  int batch = 32;                 // packets a system call, at most
};

struct SendResult {
  uint32_t flow = 0;
  uint64_t sent = 0;
  uint64_t errors = 0;  // the kernel refused (no buffers, unreachable, connection refused)
  Duration elapsed;     // of sending: from the first packet's due time to the last call's return
  Histogram late;       // paced: how long after its due time a packet was handed over, ns
  Duration slip;        // paced: how far the schedule was given up (see Pacer)
};

// Sends until done or `stop`, then end markers. Busy: needs a core while it runs above about
// 5,000 packets a second. Throws SystemError if the socket cannot be made.
SendResult Send(const SendOptions& options, const std::atomic<bool>& stop);

}  // namespace viaduct::load
