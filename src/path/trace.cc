#include "path/trace.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "path/spec_parameters.h"
#include "path/text_lines.h"

namespace viaduct::path {
namespace {

std::vector<std::string_view> Fields(std::string_view line) {
  std::vector<std::string_view> fields;
  ForEachField(line, [&fields](std::string_view field) { fields.push_back(field); });
  return fields;
}

void CheckTime(const DelayTrace& trace, Duration time) {
  if (trace.times.empty() && time != Duration()) {
    throw UsageError(fmt::format("the first time is {}; begin with 0", FormatDuration(time)));
  }
  if (!trace.times.empty() && time <= trace.times.back()) {
    throw UsageError(fmt::format("{} follows {}; give the times in ascending order",
                                 FormatDuration(time), FormatDuration(trace.times.back())));
  }
}

}  // namespace

std::vector<bool> ParseLossTrace(std::string_view text, const std::string& file) {
  std::vector<bool> trace;
  ForEachLine(text, file, [&trace](std::string_view line) {
    ForEachField(line, [&trace](std::string_view field) {
      for (char c : field) {
        if (c != '0' && c != '1') {
          throw UsageError(
              fmt::format("\"{}\": give 0 (passes) or 1 (is lost) for each packet", field));
        }
        trace.push_back(c == '1');
      }
    });
  });
  if (trace.empty()) throw UsageError(file + ": an empty trace; give 0 or 1 for each packet");
  return trace;
}

DelayTrace ParseDelayTrace(std::string_view text, const std::string& file) {
  DelayTrace trace;
  ForEachLine(text, file, [&trace](std::string_view line) {
    const auto fields = Fields(line);
    const bool timed = fields.size() == 2;
    if (fields.size() > 2 || (!trace.delays.empty() && timed == trace.times.empty())) {
      throw UsageError(
          fmt::format("\"{}\": give one duration in every line, or a time and a duration", line));
    }
    if (timed) {
      const Duration time = ParseSpan(fields[0]);
      CheckTime(trace, time);
      trace.times.push_back(time);
    }
    trace.delays.push_back(ParseSpan(fields.back()));
  });
  if (trace.delays.empty())
    throw UsageError(file + ": an empty trace; give a duration in each line");
  return trace;
}

}  // namespace viaduct::path
