// Text files of one entry a line: what both rate traces are.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "base/error.h"

namespace viaduct::path {

// Calls entry(line) for each line, without its end (LF or CRLF) and without what follows a '#';
// empty lines are skipped. A UsageError thrown by it gets "FILE:LINE: " in front.
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

}  // namespace viaduct::path
