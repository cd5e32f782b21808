#include "path/trace/trace.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "path/grammar/parameters.h"
#include "path/trace/trace_lines.h"

namespace viaduct::path {
namespace {

// Adds a line "TIME DELAY", or "TIME repeat" as the last line, to a trace.
void AddTimed(DelayTrace& trace, std::string_view line) {
  const auto [time, word] = SplitTimed(line, "TIME DELAY", "2.5 20ms");
  if (trace.round != Duration()) throw UsageError("nothing may follow \"repeat\"");
  if (trace.times.empty() && time != Duration()) {
    throw UsageError("the first line's time must be 0");
  }
  if (!trace.times.empty() && time <= trace.times.back()) {
    throw UsageError("times must increase from line to line");
  }
  if (word == "repeat") {
    if (trace.times.empty())
      throw UsageError("a trace that repeats must have a duration greater than 0");
    trace.round = time;
    return;
  }
  trace.delays.push_back(ParseSpan(word));
  trace.times.push_back(time);
}

}  // namespace

std::vector<bool> ParseLossTrace(std::string_view text, const std::string& file) {
  std::vector<bool> trace;
  ForEachLine(text, file, [&trace](std::string_view line) {
    ForEachField(line, [&trace](std::string_view field) {
      for (char c : field) {
        if (c != '0' && c != '1') {
          throw UsageError(
              fmt::format("\"{}\": expected 0 (passes) or 1 (is lost) for each packet", field));
        }
        trace.push_back(c == '1');
      }
    });
  });
  if (trace.empty())
    throw UsageError(file + ": the trace is empty; expected 0 or 1 for each packet");
  return trace;
}

DelayTrace ParseDelayTrace(std::string_view text, const std::string& file) {
  DelayTrace trace;
  ForEachLine(text, file, [&trace](std::string_view line) {
    const bool timed = line.find_first_of(" \t") != std::string_view::npos;
    if (!trace.delays.empty() && timed == trace.times.empty()) {
      throw UsageError(fmt::format(
          "\"{}\": expected one duration in every line, or a time and a duration in every line",
          line));
    }
    if (timed) return AddTimed(trace, line);
    trace.delays.push_back(ParseSpan(line));
  });
  if (trace.delays.empty()) {
    throw UsageError(file + ": the trace is empty; expected a duration in each line");
  }
  return trace;
}

}  // namespace viaduct::path
