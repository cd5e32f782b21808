// The clock of a network card (PTP hardware clock), in which it stamps frames.
#pragma once

#include <linux/ptp_clock.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/clock_relation.h"
#include "base/fd.h"
#include "base/time.h"

namespace viaduct::io {

// Readings of both clocks on CLOCK_REALTIME from what the kernel says (linux/ptp_clock.h): how the
// card's is asked decides how well it is known.
std::vector<ClockRelation::Reading> ReadingsOf(const ptp_sys_offset_precise& said);
std::vector<ClockRelation::Reading> ReadingsOf(const ptp_sys_offset_extended& said);
std::vector<ClockRelation::Reading> ReadingsOf(const ptp_sys_offset& said);

// Converts a card's stamps. It is read when it is made, and then by Keep(): soon at first, to learn
// its rate, then every 100 ms. In between stamps are converted by CLOCK_MONOTONIC, so that a step
// of CLOCK_REALTIME does not matter.
//
// One thread, but for what says so.
class CardClock {
 public:
  // `device`: /dev/ptpN. Throws EnvironmentError if the clock cannot be read.
  explicit CardClock(std::shared_ptr<UniqueFd> device);

  // Reads the clock if it is due to be; before a burst's stamps are converted.
  void Keep();
  // CLOCK_REALTIME as it is at the last Keep(), not later than that; CLOCK_MONOTONIC.
  Instant ToRealtime(Instant stamp);
  Instant ToMonotonic(Instant stamp) const { return relation_.ToOurs(stamp); }

  // Any thread, for people: "by PTP_SYS_OFFSET_EXTENDED, within 0.6 us".
  std::string Description() const;

 private:
  bool Read();
  std::vector<ClockRelation::Reading> Ask();

  // From the best on; those that the driver does not know are left out from then on.
  enum class Way { kPrecise, kExtended, kPlain };

  std::shared_ptr<UniqueFd> device_;
  std::atomic<Way> way_ = Way::kPrecise;
  ClockRelation relation_;  // to CLOCK_MONOTONIC
  Instant now_;             // of the last Keep(), CLOCK_MONOTONIC
  Duration realtime_;       // ahead of CLOCK_MONOTONIC, then
  Instant next_;            // when it is read again
  Duration interval_;
  std::atomic<int64_t> uncertainty_ = 0;  // nanoseconds
  std::atomic<uint64_t> steps_ = 0, failures_ = 0;
};

}  // namespace viaduct::io
