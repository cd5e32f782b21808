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
  // Start of each delay, ascending from 0; empty: one delay per packet.
  std::vector<Duration> times;
  Duration round;  // period of the repetition; zero: not repeated
};
// Parses a delay trace. Its lines are either durations ("20ms"), one per packet, starting again
// after the last line; or a time in seconds and the delay from that time on ("1.5 20ms"), the first
// time being 0, with an optional last line "10 repeat" that starts the trace again at that time.
DelayTrace ParseDelayTrace(std::string_view text, const std::string& file);

}  // namespace viaduct::path
