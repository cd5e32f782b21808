// Recorded behaviour that a SPEC names by file: which packets were lost, how long each was delayed.
// Every function throws UsageError naming `file` and the line; '#' starts a comment.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace viaduct::path {

// One 0 (passes) or 1 (is lost) per packet; white space is ignored.
std::vector<bool> ParseLossTrace(std::string_view text, const std::string& file);

struct DelayTrace {
  std::vector<Duration> delays;
  std::vector<Duration> times;  // start of each delay, ascending from 0; empty: one per packet
  Duration round;               // the period of the repetition; zero: none
};
// The lines are either durations ("20ms"), one per packet, starting again after the last; or a time
// in seconds and the delay that holds from then on ("1.5 20ms"), the first time being 0, with an
// optional last line "10 repeat" that starts again at that time.
DelayTrace ParseDelayTrace(std::string_view text, const std::string& file);

}  // namespace viaduct::path
