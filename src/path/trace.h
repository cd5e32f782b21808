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
};
// Lines of one duration ("20ms"), one a packet; or of a time and the delay that holds from then on
// ("1.5s 20ms").
DelayTrace ParseDelayTrace(std::string_view text, const std::string& file);

}  // namespace viaduct::path
