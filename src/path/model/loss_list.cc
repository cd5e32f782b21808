#include "path/model/loss_list.h"

#include "path/grammar/parameters.h"

namespace viaduct::path {
namespace {

LossList::Range ParseRange(std::string_view text) {
  const size_t dash = text.find('-');
  const int64_t first = ParseInteger(text.substr(0, dash), 1, kMaxPackets);
  const int64_t last = dash == std::string_view::npos
                           ? first
                           : ParseInteger(text.substr(dash + 1), first, kMaxPackets);
  return {static_cast<uint64_t>(first), static_cast<uint64_t>(last)};
}

std::string FormatRange(const LossList::Range& range) {
  return range.last == range.first ? std::to_string(range.first)
                                   : fmt::format("{}-{}", range.first, range.last);
}

}  // namespace

LossList LossList::Parse(std::string_view text) {
  LossList list;
  for (bool more = true; more;) {
    const size_t comma = text.find(',');
    list.ranges.push_back(ParseRange(text.substr(0, comma)));
    more = comma != std::string_view::npos;
    if (more) text.remove_prefix(comma + 1);
  }
  return list;
}

std::string LossList::Format() const {
  std::vector<std::string> words;
  for (const Range& range : ranges) words.push_back(FormatRange(range));
  return fmt::format("{}", fmt::join(words, ","));
}

void LossList::Check() const {
  uint64_t last = 0;
  for (const Range& range : ranges) {
    if (range.first <= last || range.last < range.first) {
      throw UsageError(fmt::format("list: {} follows {}; specify the numbers in ascending order",
                                   range.first, last));
    }
    last = range.last;
  }
}

}  // namespace viaduct::path
