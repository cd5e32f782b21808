// The receiving half of viaduct-load.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>

#include "base/time.h"
#include "load/socket.h"
#include "load/tally.h"

namespace viaduct::load {

struct ReceiveOptions {
  ReceiverSocketOptions socket;
  std::optional<Duration> duration;  // give up after this long
  // The flow is over when this much time has passed without a packet after the sender's end marker.
  // Packets may still be queued in the network.
  Duration linger = Duration::Milliseconds(300);
};

struct ReceiveResult {
  enum class End { kSender, kSignal, kDuration };
  End end = End::kSignal;
  Tally tally;                    // of the packets that reached the program
  uint64_t received = 0;          // data packets, including those that were only counted
  uint64_t dropped_here = 0;      // arrived, but this program was too slow (receive buffer full)
  uint64_t foreign = 0;           // not viaduct-load's, or of another flow than the first one seen
  std::optional<uint64_t> sent;   // from the sender's end marker
  double packets_per_second = 0;  // between the first and the last packet
  TimeSeries series;
};

// Receives one flow (the first one seen) until its end marker, `stop`, or the duration.
// `listening` is called once the socket is bound. Throws SystemError.
ReceiveResult Receive(const ReceiveOptions& options, const std::atomic<bool>& stop,
                      const std::function<void()>& listening);

}  // namespace viaduct::load
