// The receiving half of viaduct-load.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>

#include "base/time.h"
#include "base/time_series.h"
#include "run/load/socket.h"
#include "run/load/tally.h"

namespace viaduct::load {

struct ReceiveOptions {
  ReceiverSocketOptions socket;
  std::optional<Duration> duration;  // the limit for the whole flow
  // The flow is over when the sender has ended and this much time has passed without a packet:
  // packets may still be queued in the network. If all have arrived it is over a little sooner.
  Duration linger = Duration::Milliseconds(300);
  // The lead of this machine's clock over that of the sender's machine, if that is another one.
  // Delays are corrected by it, and the report's times are the sender's.
  Duration clock_ahead;
};

// The requests to a working receiver, set by a signal handler.
struct ReceiveRequests {
  std::atomic<bool> stop = false;  // end now
  std::atomic<bool> sender_ended =
      false;  // end as after the sender's end marker, which may be lost
};

struct ReceiveResult {
  enum class End { kSender, kSignal, kDuration };
  End end = End::kSignal;
  Tally tally;                    // the packets that reached the program
  uint64_t received = 0;          // data packets, including those that were only counted
  uint64_t dropped_here = 0;      // arrived, but this program was too slow (receive buffer full)
  uint64_t foreign = 0;           // not viaduct-load's, or of a flow other than the first one seen
  std::optional<uint64_t> sent;   // packets offered, from the sender's end marker
  bool cut = false;               // packets were still arriving when it was made to end
  double packets_per_second = 0;  // between the first and the last packet
  TimeSeries series;
};

// Receives one flow (the first one seen) until its end, a request, or the duration. Calls
// `listening` once the socket is bound. Throws SystemError.
ReceiveResult Receive(const ReceiveOptions& options, const ReceiveRequests& requests,
                      const std::function<void()>& listening);

}  // namespace viaduct::load
