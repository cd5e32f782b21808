// Reading text files of lines and fields: '#' starts a comment, errors name file and line.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "base/error.h"

namespace viaduct::path {

// Calls `use(line)` for every line that holds something, without its comment. What it throws as
// UsageError is thrown on as "FILE:LINE: ...".
template <class Use>
void ForEachLine(std::string_view text, const std::string& file, Use use) {
  constexpr std::string_view kBlank = " \t\r";
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    line = line.substr(0, line.find('#'));
    const size_t first = line.find_first_not_of(kBlank);
    if (first == std::string_view::npos) continue;
    line = line.substr(first, line.find_last_not_of(kBlank) - first + 1);
    try {
      use(line);
    } catch (const UsageError& error) {
      throw UsageError(fmt::format("{}:{}: {}", file, number, error.what()));
    }
  }
}

// Calls `use(field)` for every field, separated by blanks.
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

}  // namespace viaduct::path
