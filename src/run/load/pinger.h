// `viaduct-load ping`: round trips of echo requests that are sent at a constant rate.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "base/histogram.h"
#include "base/result/flow.h"
#include "base/result/gaps.h"
#include "base/time.h"
#include "run/load/pace.h"
#include "run/load/refusals.h"
#include "run/load/socket.h"

namespace viaduct::load {

struct PingOptions : PaceOptions {
  Endpoint to;
  std::string bind;  // source address; empty: chosen by the route
  int size = 56;     // bytes after the ICMP header
  // The maximum time to wait for the last replies; the flow ends sooner if all have arrived.
  Duration linger = Duration::Seconds(1);
};

// The result; times are since the first request was due. A request without a reply is lost.
struct PingResult : Paced {
  uint64_t received = 0;    // answered requests
  uint64_t duplicates = 0;  // replies to a request that was answered before
  uint64_t foreign = 0;     // replies to no request of this flow
  uint64_t dropped_here = 0;
  Refusals refused;
  Histogram round_trips;  // ns: from before the request's system call to the kernel's stamp of the
                          // reply
  result::Samples samples;  // ms, by the time of the request
  result::GapFinder gaps;
};

// Sends until done or `stop`, then waits for replies, until `stop` is set once more (it is reset
// when it has ended the sending). Throws SystemError if the socket cannot be created, and if no
// request can ever be sent (too long, not permitted).
PingResult Ping(const PingOptions& options, std::atomic<bool>& stop);

}  // namespace viaduct::load
