// The inner grammar of a SPEC's values: HEAD, or HEAD:NAME=VALUE,NAME=VALUE,FLAG. A table defines
// the parameters that may follow a HEAD, one row for each parameter.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/member_pointer.h"
#include "base/text/edit_distance.h"
#include "base/units.h"

namespace viaduct::path {

// The maximum for a number of packets: below 2^63, so that the sum of two numbers does not
// overflow.
inline constexpr int64_t kMaxPackets = 1000000000000000000;

// Parses a duration in a SPEC: at most a day, so that instants do not overflow.
Duration ParseSpan(std::string_view text);
// Parses a duration in a SPEC that must be greater than zero.
Duration ParsePositiveSpan(std::string_view text);

// Parses a gain of a controller: a number from 0 to 1000.
double ParseGain(std::string_view text);
std::string FormatGain(double gain);

// Splits a value at the first ':'; the second part is empty when there is no ':'.
std::pair<std::string_view, std::string_view> SplitHead(std::string_view value);
// The inverse of SplitHead().
std::string JoinHead(std::string_view head, std::string_view parameters);

// A parameter as it is written: "NAME=VALUE", or "FLAG" without a value.
struct ParameterWord {
  std::string_view name;
  std::optional<std::string_view> value;
};
// Splits a text at the commas; an empty text has no words.
std::vector<ParameterWord> SplitParameters(std::string_view text);

// A value that is one of two words: `first` for the enumerator of T with the value 0, `second` for
// the enumerator with the value 1.
template <class T>
struct Choice {
  std::string_view first, second;
  T Parse(std::string_view value) const {
    if (value == first) return T{};
    if (value == second) return T{1};
    throw UsageError(fmt::format("\"{}\": unknown; expected {} or {}", value, first, second));
  }
  std::string_view Format(T value) const { return value == T{} ? first : second; }
};

template <class T>
struct Parameter;
// The argument type of the following functions: a table of T's parameters (an array converts to
// it).
template <class T>
using ParameterTable = std::span<const Parameter<std::type_identity_t<T>>>;

// One row of a table: a parameter's name, and the functions that read it into a T and write it
// back.
template <class T>
struct Parameter {
  enum class Kind {
    kValue,  // "NAME=VALUE"
    kFlag,   // "NAME"
    kSwitch  // "NAME" or "noNAME"
  };
  std::string_view name;
  void (*parse)(T& target, std::string_view value);  // `value` of a flag or switch: its name
  std::string (*format)(const T& target);            // flag: "" if not set; switch: "" or "no"
  Kind kind = Kind::kValue;

  bool IsCalled(std::string_view word) const {
    return word == name ||
           (kind == Kind::kSwitch && word.starts_with("no") && word.substr(2) == name);
  }
};

template <class T>
size_t FindParameter(std::span<const Parameter<T>> table, std::string_view name) {
  std::vector<std::string> known;
  for (size_t i = 0; i < table.size(); ++i) {
    if (table[i].IsCalled(name)) return i;
    known.emplace_back(table[i].name);
    if (table[i].kind == Parameter<T>::Kind::kSwitch) known.push_back("no" + known.back());
  }
  const std::string hint = DidYouMean(name, known);
  throw UsageError(fmt::format("unknown parameter \"{}\"{} known parameters: {}", name,
                               hint.empty() ? ";" : hint, fmt::join(known, ", ")));
}

// Adds the names of the table's first rows to the leading values of a text: "1%,10%,FLAG" becomes
// "p=1%,r=10%,FLAG". Values without a name must precede the parameters that have a name.
template <class T>
std::string NameLeadingValues(std::string_view text, ParameterTable<T> table) {
  std::vector<std::string> words;
  bool leading = true;
  for (const ParameterWord& word : SplitParameters(text)) {
    const size_t row = words.size();
    leading &= !word.value && row < table.size() &&
               std::none_of(table.begin(), table.end(),
                            [&](const auto& each) { return each.IsCalled(word.name); });
    words.push_back(leading      ? fmt::format("{}={}", table[row].name, word.name)
                    : word.value ? fmt::format("{}={}", word.name, *word.value)
                                 : std::string(word.name));
  }
  return fmt::format("{}", fmt::join(words, ","));
}

template <class T>
void ParseParameter(T& target, const ParameterWord& word, const Parameter<T>& parameter) {
  const bool needs_value = parameter.kind == Parameter<T>::Kind::kValue;
  if (needs_value != word.value.has_value()) {
    throw UsageError(needs_value
                         ? fmt::format("the parameter {0} needs a value, as in {0}=...", word.name)
                         : fmt::format("the parameter {} does not accept a value", word.name));
  }
  try {
    parameter.parse(target, word.value.value_or(word.name));
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}: {}", word.name, error.what()));
  }
}

// Reads "NAME=VALUE,NAME=VALUE,FLAG", each parameter at most once. Returns, for each row of the
// table, whether its parameter was given.
template <class T>
std::vector<bool> ParseParameters(T& target, std::string_view text, ParameterTable<T> table) {
  std::vector<std::string_view> given(table.size());
  for (const ParameterWord& word : SplitParameters(text)) {
    const size_t row = FindParameter(table, word.name);
    if (given[row] == word.name) {
      throw UsageError(
          fmt::format("the parameter {} is specified twice; remove one of the two", word.name));
    }
    if (!given[row].empty()) {
      throw UsageError(fmt::format(
          "the parameter {} contradicts an earlier parameter; remove one of the two", word.name));
    }
    ParseParameter(target, word, table[row]);
    given[row] = word.name;
  }
  std::vector<bool> rows(given.size());
  for (size_t row = 0; row < rows.size(); ++row) rows[row] = !given[row].empty();
  return rows;
}

// Formats the parameters of the rows for which `wanted(row)` is true as "NAME=VALUE,FLAG".
template <class T, class Wanted>
std::string FormatParameters(const T& target, ParameterTable<T> table, Wanted wanted) {
  std::vector<std::string> words;
  for (size_t row = 0; row < table.size(); ++row) {
    if (!wanted(row)) continue;
    const Parameter<T>& parameter = table[row];
    const std::string value = parameter.format(target);
    if (parameter.kind == Parameter<T>::Kind::kFlag && value.empty()) continue;
    if (parameter.kind == Parameter<T>::Kind::kValue) {
      words.push_back(fmt::format("{}={}", parameter.name, value));
    } else {
      words.push_back((parameter.kind == Parameter<T>::Kind::kSwitch ? value : "") +
                      std::string(parameter.name));
    }
  }
  return fmt::format("{}", fmt::join(words, ","));
}

template <class T>
std::string FormatAll(const T& target, ParameterTable<T> table) {
  return FormatParameters(target, table, [](size_t) { return true; });
}
// Formats the parameters that differ from their defaults.
template <class T>
std::string FormatChanged(const T& target, ParameterTable<T> table) {
  return FormatParameters(target, table, [&](size_t row) {
    return table[row].format(target) != table[row].format(T());
  });
}

// Checks `text` and returns its normal form: the parameters that the text gives, in the order of
// the table and in canonical units. T has the table (T::Table()) and checks whether its values are
// consistent (Check()).
template <class T>
std::string NormalizeParameters(std::string_view text) {
  T target;
  const std::vector<bool> given = ParseParameters(target, text, T::Table());
  target.Check();
  return FormatParameters(target, T::Table(), [&](size_t row) { return given[row]; });
}

template <class T>
T ReadParameters(std::string_view text) {
  T target;
  ParseParameters(target, text, T::Table());
  target.Check();
  return target;
}

// Returns the (possibly nested) member of `object` to which the member pointers `way` lead.
template <auto... way, class T>
auto& Reach(T& object) {
  return (object.*....*way);
}
// The result type is the class that has the member `first`; the other member pointers do not
// matter.
template <auto first, auto...>
ClassOf<first> StartOf();

// Returns the row of the member, or nested member, to which the member pointers `way` lead.
template <auto parse, auto format, auto... way>
constexpr Parameter<decltype(StartOf<way...>())> ValueParameter(std::string_view name) {
  using T = decltype(StartOf<way...>());
  return {name, [](T& target, std::string_view value) { Reach<way...>(target) = parse(value); },
          [](const T& target) { return std::string(format(Reach<way...>(target))); }};
}
template <auto... way>
constexpr auto ProbabilityParameter(std::string_view name) {
  return ValueParameter<ParseProbability, FormatProbability, way...>(name);
}
template <auto... way>
constexpr auto TimeParameter(std::string_view name) {
  return ValueParameter<ParsePositiveSpan, FormatDuration, way...>(name);
}
template <auto... way>
constexpr auto GainParameter(std::string_view name) {
  return ValueParameter<ParseGain, FormatGain, way...>(name);
}
template <int64_t low, int64_t high, auto... way>
constexpr auto IntegerParameter(std::string_view name) {
  constexpr auto parse = [](std::string_view value) { return ParseInteger(value, low, high); };
  constexpr auto format = [](int64_t value) { return std::to_string(value); };
  return ValueParameter<parse, format, way...>(name);
}
template <auto... way>
constexpr Parameter<decltype(StartOf<way...>())> FlagParameter(std::string_view name) {
  using T = decltype(StartOf<way...>());
  return {name, [](T& target, std::string_view) { Reach<way...>(target) = true; },
          [](const T& target) { return std::string(Reach<way...>(target) ? "yes" : ""); },
          Parameter<T>::Kind::kFlag};
}
template <auto... way>
constexpr Parameter<decltype(StartOf<way...>())> SwitchParameter(std::string_view name) {
  using T = decltype(StartOf<way...>());
  return {name,
          [](T& target, std::string_view word) { Reach<way...>(target) = !word.starts_with("no"); },
          [](const T& target) { return std::string(Reach<way...>(target) ? "" : "no"); },
          Parameter<T>::Kind::kSwitch};
}

}  // namespace viaduct::path
