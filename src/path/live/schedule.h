// Schedule files: changes of a path over time (link flaps, mobility, diurnal load).
//
//   # time  pair     direction  change
//   0s      a-b      both       delay=20ms rate=10Mbit    # keys of a SPEC; other keys stay
//   5s      a-b      both       down                      # the link loses every packet
//   5.5s    a-b      both       up                        # the link is as before `down`
//   8s      a-b/dns  up         loss=5%                   # a class; * is every pair
//   loop 10s                                              # start again, every 10 s; 1 ms or more
//
// Times count from the start of the path and must not decrease; # begins a comment.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "path/engine/live_path.h"

namespace viaduct::path {

struct ScheduledChange {
  enum class Kind { kSpec, kLinkDown, kLinkUp };
  Duration at;
  engine::Target target;
  Kind kind = Kind::kSpec;
  std::string spec;  // the keys to change; only for kSpec
  int line = 0;
};

struct Schedule {
  std::vector<ScheduledChange> changes;  // ordered by time
  std::optional<Duration> loop;          // at least the last change's time, and 1 ms
};

// Parses a schedule. Throws UsageError naming `file` and the line that is malformed or out of
// order. Whether the SPEC of a change can be applied depends on the changes before it:
// PathEmulation checks them.
Schedule ParseSchedule(std::string_view text, const std::string& file);

// Steps through a schedule without a clock. Changes of the same instant are returned one by one, in
// the order of the file.
class SchedulePlayer {
 public:
  explicit SchedulePlayer(Schedule schedule) : schedule_(std::move(schedule)) {}
  // Returns the time since the start at which the next change is due; nothing when all changes have
  // been taken.
  std::optional<Duration> NextAt() const;
  // Takes the next change. NextAt() must have returned a time.
  const ScheduledChange& Take();

 private:
  Schedule schedule_;
  size_t next_ = 0;
  Duration round_;  // time at which the current round of the loop began
};

// Applies a change to the path.
void Perform(const ScheduledChange& change, engine::LivePath& live);

}  // namespace viaduct::path
