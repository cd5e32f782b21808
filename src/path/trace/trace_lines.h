// Functions that read text files line by line: traces and tables.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/units.h"

namespace viaduct::path {

// Calls entry(line) for each line, without its end (LF or CRLF) and without a comment, which begins
// with '#'; empty lines are skipped. "FILE:LINE: " is prepended to a UsageError that `entry`
// throws.
template <class Entry>
void ForEachLine(std::string_view text, const std::string& file, Entry entry) {
  constexpr std::string_view kWhiteSpace = " \t\r";
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, std::min(end, text.find('#')));
    text.remove_prefix(std::min(end + 1, text.size()));
    line.remove_prefix(std::min(line.find_first_not_of(kWhiteSpace), line.size()));
    line = line.substr(0, line.find_last_not_of(kWhiteSpace) + 1);
    if (line.empty()) continue;
    try {
      entry(line);
    } catch (const UsageError& error) {
      throw UsageError(fmt::format("{}:{}: {}", file, number, error.what()));
    }
  }
}

// Calls use(field) for each field of a line; fields are separated by blanks.
template <class Use>
void ForEachField(std::string_view line, Use use) {
  constexpr std::string_view kBlank = " \t";
  size_t at = line.find_first_not_of(kBlank);
  while (at != std::string_view::npos) {
    const size_t end = std::min(line.find_first_of(kBlank, at), line.size());
    use(line.substr(at, end - at));
    at = line.find_first_not_of(kBlank, end);
  }
}

// Splits "TIME WORD", where TIME is in seconds or has a unit. `form` and `example` are for the
// error message: "TIME RATE", "2.5 10Mbit".
inline std::pair<Duration, std::string_view> SplitTimed(std::string_view line,
                                                        std::string_view form,
                                                        std::string_view example) {
  const size_t space = line.find_first_of(" \t");
  if (space == std::string_view::npos) {
    throw UsageError(fmt::format("\"{}\": expected \"{}\", as in \"{}\"", line, form, example));
  }
  const std::string_view word = line.substr(line.find_first_not_of(" \t", space));
  const std::string time(line.substr(0, space));
  const bool has_unit = time.find_first_not_of("0123456789.") != std::string::npos;
  try {
    return {ParseDuration(has_unit ? time : time + "s"), word};
  } catch (const UsageError&) {
    throw UsageError(fmt::format(
        "\"{}\": not a valid time; expected a time such as \"2.5\" (seconds) or \"2500ms\"", time));
  }
}

}  // namespace viaduct::path
