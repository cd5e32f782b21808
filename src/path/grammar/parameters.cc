#include "path/grammar/parameters.h"

#include <charconv>

namespace viaduct::path {

Duration ParseSpan(std::string_view text) {
  const Duration span = ParseDuration(text);
  if (span > Duration::Seconds(86400)) {
    throw UsageError(fmt::format("\"{}\": longer than a day; the maximum is 24h", text));
  }
  return span;
}

Duration ParsePositiveSpan(std::string_view text) {
  const Duration span = ParseSpan(text);
  if (span == Duration()) throw UsageError("must be greater than 0");
  return span;
}

double ParseGain(std::string_view text) {
  double value = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end.ec != std::errc() || end.ptr != text.data() + text.size() || !(value >= 0) ||
      value > 1000) {
    throw UsageError(
        fmt::format("\"{}\": expected a number from 0 to 1000, such as \"1.25\"", text));
  }
  return value;
}

std::string FormatGain(double gain) { return fmt::format("{}", gain); }

std::pair<std::string_view, std::string_view> SplitHead(std::string_view value) {
  const size_t colon = value.find(':');
  if (colon == std::string_view::npos) return {value, {}};
  if (colon + 1 == value.size()) {
    throw UsageError(fmt::format("\"{}\": nothing follows the colon", value));
  }
  return {value.substr(0, colon), value.substr(colon + 1)};
}

std::string JoinHead(std::string_view head, std::string_view parameters) {
  return parameters.empty() ? std::string(head) : fmt::format("{}:{}", head, parameters);
}

std::vector<ParameterWord> SplitParameters(std::string_view text) {
  std::vector<ParameterWord> words;
  for (bool more = !text.empty(); more;) {
    const size_t comma = text.find(',');
    const std::string_view word = text.substr(0, comma);
    const size_t equals = word.find('=');
    words.push_back({word.substr(0, equals), std::nullopt});
    if (equals != std::string_view::npos) words.back().value = word.substr(equals + 1);
    more = comma != std::string_view::npos;
    if (more) text.remove_prefix(comma + 1);
  }
  return words;
}

}  // namespace viaduct::path
