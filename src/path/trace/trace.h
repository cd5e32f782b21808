// Traces in files that a SPEC names: which packets were lost, and how long each packet was delayed.
// Every function throws UsageError naming `file` and the line; '#' starts a comment.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace viaduct::path {

// Parses one digit per packet, 0 (passes) or 1 (is lost); white space is ignored.
std::vector<bool> ParseLossTrace(std::string_view text, const std::string& file);

struct DelayTrace {
  std::vector<Duration> delays;
  // The time from which each delay applies, ascending from 0; empty: one delay per packet.
  std::vector<Duration> times;
  Duration round;  // period of the repetition; zero: not repeated
};
// Parses a delay trace. Either each line is the delay of one packet ("20ms"), and the trace starts
// again after the last line; or each line is a time in seconds and a delay that applies from that
// time ("1.5 20ms"). The first time is 0; the optional last line "10 repeat" starts the trace again
// at its time.
DelayTrace ParseDelayTrace(std::string_view text, const std::string& file);

}  // namespace viaduct::path
