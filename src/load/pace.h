// The loop of a sender that keeps a rate: viaduct-load's, and what the benchmarks send frames with.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>

#include "base/histogram.h"
#include "base/time.h"

namespace viaduct::load {

struct PaceOptions {
  std::optional<double> rate;  // packets a second; absent: as fast as they are taken
  Duration duration;
  std::optional<uint64_t> count;  // stop after this many, if sooner
  int batch = 32;                 // packets handed over at once, at most
};

struct Paced {
  uint64_t sent = 0;  // packets taken
  Duration elapsed;   // from the first packet's due time to the last call's return
  Histogram late;     // paced: how long after its due time a packet was handed over, ns
  Duration slip;      // paced: how far the schedule was given up (see Pacer)
};

// Hands over packets `number`, `number` + 1, ...; returns how many of them were taken. One that is
// refused keeps no number, so that the receiver does not take it for one the network lost.
using SendPackets = std::function<int(uint64_t number, int packets, Instant now)>;

// Calls `send` until done or `stop`. Busy: needs a core above about 5,000 packets a second.
Paced Pace(const PaceOptions& options, const std::atomic<bool>& stop, const SendPackets& send);

void SleepFor(Duration duration);

}  // namespace viaduct::load
