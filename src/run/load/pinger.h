// `viaduct-load ping`: measures the round trips of echo requests that are sent at a constant rate.
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
  std::string bind;  // source address; empty: the route selects it
  int size = 56;     // bytes of payload after the ICMP header
  // The maximum time to wait for the last replies; the flow ends earlier if all replies have
  // arrived.
  Duration linger = Duration::Seconds(1);
};

// The result of a flow of echo requests; times are counted from the time at which the first request
// was due. A request without a reply is lost.
struct PingResult : Paced {
  uint64_t received = 0;    // requests that were answered
  uint64_t duplicates = 0;  // replies to a request that was answered before
  uint64_t foreign = 0;     // messages that reply to no request of this flow
  uint64_t dropped_here = 0;
  Refusals refused;
  // Round trips in ns, from before the system call of a request to the kernel's time stamp of the
  // reply.
  Histogram round_trips;
  result::Samples samples;  // round trips in ms; the time of a sample is the request's
  result::GapFinder gaps;
};

// Sends until the flow is complete or `stop` is set, then waits for replies, until `stop` is set
// again (it is reset if it has ended the sending). Throws SystemError if the socket cannot be
// created, or if no request can ever be sent (too long, not permitted).
PingResult Ping(const PingOptions& options, std::atomic<bool>& stop);

}  // namespace viaduct::load
