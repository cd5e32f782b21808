// Recorded behaviour that a SPEC names by file: which packets were lost, how long each was under
// way. Every function throws UsageError naming `file` and the line; '#' starts a comment.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace viaduct::path {

// One 0 (passes) or 1 (is lost) a packet, blanks and line breaks where one likes.
std::vector<bool> ParseLossTrace(std::string_view text, const std::string& file);

struct DelayTrace {
  std::vector<Duration> delays;
  std::vector<Duration> times;  // from when each holds, ascending from 0; empty: one a packet
  Duration round;               // when times start again from 0; zero: never
};
// Lines of one duration ("20ms"), one a packet, begun again after the last; or of a time in seconds
// and the delay that holds from then on ("1.5 20ms"), the first time 0, and where it starts again
// "10 repeat" at the end.
DelayTrace ParseDelayTrace(std::string_view text, const std::string& file);

}  // namespace viaduct::path
