// The loop of a sender that sends at a rate, used by viaduct-load and by the frame sources of the
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
  std::optional<double> rate;  // packets per second; absent: as fast as packets are accepted
  Duration duration;
  std::optional<uint64_t> count;  // maximum number of packets
  int batch = 32;                 // maximum number of packets for one call of SendPackets
};

struct Paced {
  uint64_t offered = 0;  // packets that were due, accepted or refused
  uint64_t sent = 0;     // packets that were accepted
  Instant started;       // CLOCK_MONOTONIC: the time at which the first packet was due
  Duration elapsed;      // time from `started` until the last call returned
  // The time from a packet's due time until it was sent, in ns, for a sender with a rate.
  Histogram late;
  // The shift of the schedule because of delays (Pacer::Slip()), for a sender with a rate.
  Duration slip;
};

// Sends packets `number`, `number` + 1, ... and returns the number of packets that were accepted,
// counted from the first. If the function returns 0, the first packet counts as offered and
// refused. The number of the refused packet is not used again, so that the receiver counts the
// packet as missing, like a lost packet.
using SendPackets = std::function<int(uint64_t number, int packets, Instant now)>;

// Calls `send` until `duration` or `count` is reached, or `stop` is set. Above about 5,000 packets
// per second the caller needs a separate core.
Paced Pace(const PaceOptions& options, const std::atomic<bool>& stop, const SendPackets& send);

void SleepFor(Duration duration);

}  // namespace viaduct::load
