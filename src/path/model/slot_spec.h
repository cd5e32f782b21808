// The slots of a SPEC: instants at which a link delivers the accumulated packets, as netem's `slot`
// (net/sched/sch_netem.c, get_slot_next). Links that aggregate frames (Wi-Fi, DOCSIS, LTE) do that.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "path/model/delay_spec.h"

namespace viaduct::path {

struct SlotSpec {
  Duration delay;                           // time until the next slot: minimum or mean
  std::optional<Duration> max;              // uniform from `delay` to `max`; absent: always `delay`
  std::optional<Duration> jitter;           // instead of `max`: unit of the distribution
  std::optional<std::string> distribution;  // distribution of the jitter, as in DelaySpec
  std::optional<int64_t> packets, bytes;    // limits of one slot
  friend bool operator==(const SlotSpec&, const SlotSpec&) = default;

  // Throws UsageError if the parameters contradict each other.
  void Check() const;
  // Returns the time until the next slot, as a delay.
  DelaySpec Interval() const;
};

// Parses "5ms", "5ms:max=8ms,packets=16,bytes=24kB" or "5ms:jitter=1ms,dist=normal". Throws
// UsageError if the value is not valid.
SlotSpec ParseSlot(std::string_view value);
std::string FormatSlot(const SlotSpec& slot);

}  // namespace viaduct::path
