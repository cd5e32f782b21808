// The loop of a sender that keeps a rate, used by viaduct-load and by the frame sources of the
// benchmarks.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>

#include "base/histogram.h"
#include "base/time.h"

namespace viaduct::load {

struct PaceOptions {
  std::optional<double> rate;  // packets per second; absent: as fast as they are accepted
  Duration duration;
  std::optional<uint64_t> count;  // stop after this many, if sooner
  int batch = 32;                 // packets handed over at once, at most
};

struct Paced {
  uint64_t sent = 0;  // packets accepted
  Duration elapsed;   // from the first packet's due time to the last call's return
  Histogram late;     // paced: how long after its due time a packet was handed over, ns
  Duration slip;      // paced: how far the schedule was given up (see Pacer)
};

// Sends packets `number`, `number` + 1, ...; returns how many of them were accepted. The number of
// a refused packet is used again, so that the receiver does not count it as lost in the network.
using SendPackets = std::function<int(uint64_t number, int packets, Instant now)>;

// Calls `send` until done or `stop`. Above about 5,000 packets per second it needs a core of its
// own.
Paced Pace(const PaceOptions& options, const std::atomic<bool>& stop, const SendPackets& send);

void SleepFor(Duration duration);

}  // namespace viaduct::load
