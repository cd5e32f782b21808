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
  std::optional<Duration> duration;  // maximum duration of the flow
  // The time without packets after which the flow is over, once the sender has ended: packets may
  // still be queued in the network. If all packets have arrived, the flow is over a little earlier.
  Duration linger = Duration::Milliseconds(300);
  // The lead of this machine's clock over the clock of the sender's machine; 0 if the sender is on
  // this machine. The report corrects delays by this lead, and gives all times in the sender's
  // clock.
  Duration clock_ahead;
};

// The requests to a running receiver, set by a signal handler.
struct ReceiveRequests {
  std::atomic<bool> stop = false;  // ends the flow at once
  std::atomic<bool> sender_ended =
      false;  // has the effect of the sender's end marker, which may be lost
};

struct ReceiveResult {
  enum class End { kSender, kSignal, kDuration };
  End end = End::kSignal;
  Tally tally;                    // the packets that were delivered to the program
  uint64_t received = 0;          // data packets, including those only counted in the kernel
  uint64_t dropped_here = 0;      // dropped because the program was too slow (receive buffer full)
  uint64_t foreign = 0;           // not viaduct-load's, or of a flow other than the first
  std::optional<uint64_t> sent;   // number of packets offered, from the sender's end marker
  bool cut = false;               // packets were still arriving when the receiver was ended
  double packets_per_second = 0;  // the rate between the first and the last packet
  TimeSeries series;
};

// Receives one flow (that of the first packet) until its end, a request, or the maximum duration.
// Calls `listening` once the socket is bound. Throws SystemError.
ReceiveResult Receive(const ReceiveOptions& options, const ReceiveRequests& requests,
                      const std::function<void()>& listening);

}  // namespace viaduct::load
