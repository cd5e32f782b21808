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
  std::optional<uint64_t> count;  // the maximum number of packets
  int batch = 32;                 // packets handed over at once, at most
};

struct Paced {
  uint64_t offered = 0;  // packets whose turn it was, accepted or refused
  uint64_t sent = 0;     // the accepted ones of these
  Instant started;       // CLOCK_MONOTONIC: the first packet's due time
  Duration elapsed;      // from there to the last call's return
  Histogram late;        // paced: the time from a packet's due time until it was handed over, ns
  Duration slip;         // paced: the shift of the schedule (see Pacer)
};

// Sends packets `number`, `number` + 1, ...; returns the number of them that were accepted, from
// the first on. After 0 the first of them counts as refused: it was offered, and its number is not
// used again, so for the receiver it is missing like any lost packet.
using SendPackets = std::function<int(uint64_t number, int packets, Instant now)>;

// Calls `send` until done or `stop`. Above about 5,000 packets per second it needs a separate core.
Paced Pace(const PaceOptions& options, const std::atomic<bool>& stop, const SendPackets& send);

void SleepFor(Duration duration);

}  // namespace viaduct::load
