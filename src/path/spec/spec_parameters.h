// The inner grammar of a SPEC's values: HEAD, or HEAD:NAME=VALUE,NAME=VALUE,FLAG.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/units.h"

namespace viaduct::path {

// A time on a path: at most a day, so that instants do not overflow.
inline Duration ParseSpan(std::string_view text) {
  const Duration span = ParseDuration(text);
  if (span > Duration::Seconds(86400)) {
    throw UsageError(fmt::format("\"{}\": longer than a day; give at most 24h", text));
  }
  return span;
}

// What a value may be followed by: how it is read into a T and written back.
template <class T>
struct Parameter {
  std::string_view name;
  void (*parse)(T& target, std::string_view value);
  // Nothing when it has its default. A flag (which has no "=value") formats as its own name.
  std::optional<std::string> (*format)(const T& target);
  bool flag = false;
};

// Splits at the first ':'; the second part is empty when there is none.
inline std::pair<std::string_view, std::string_view> SplitHead(std::string_view value) {
  const size_t colon = value.find(':');
  if (colon == std::string_view::npos) return {value, {}};
  if (colon + 1 == value.size()) {
    throw UsageError(fmt::format("\"{}\": nothing follows the colon", value));
  }
  return {value.substr(0, colon), value.substr(colon + 1)};
}

template <class T>
const Parameter<T>& FindParameter(std::span<const Parameter<T>> parameters, std::string_view name) {
  std::string all;
  for (const Parameter<T>& parameter : parameters) {
    if (parameter.name == name) return parameter;
    all += (all.empty() ? "" : ", ") + std::string(parameter.name);
  }
  throw UsageError(fmt::format("unknown parameter \"{}\"; known are {}", name, all));
}

template <class T>
void ParseParameter(T& target, std::string_view word, std::span<const Parameter<T>> parameters) {
  const size_t equals = word.find('=');
  const std::string_view name = word.substr(0, equals);
  const Parameter<T>& parameter = FindParameter(parameters, name);
  if (parameter.flag != (equals == std::string_view::npos)) {
    throw UsageError(parameter.flag ? fmt::format("{}: takes no value", name)
                                    : fmt::format("{}: needs a value, as in {}=...", name, name));
  }
  try {
    parameter.parse(target, parameter.flag ? std::string_view() : word.substr(equals + 1));
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}: {}", name, error.what()));
  }
}

// Reads "NAME=VALUE,NAME=VALUE,FLAG", each at most once; empty text reads nothing.
template <class T>
void ParseParameters(T& target, std::string_view text, std::span<const Parameter<T>> parameters) {
  std::string_view rest = text;
  for (bool more = !text.empty(); more;) {
    const size_t comma = rest.find(',');
    const std::string_view word = rest.substr(0, comma);
    const std::string_view name = word.substr(0, word.find('='));
    const std::string_view before = text.substr(0, static_cast<size_t>(word.data() - text.data()));
    // Looks at whole words only: "," is put before the first one too.
    if (("," + std::string(before)).find("," + std::string(name) + "=") != std::string::npos ||
        ("," + std::string(before)).find("," + std::string(name) + ",") != std::string::npos) {
      throw UsageError(fmt::format("{}: given twice; give it once", name));
    }
    ParseParameter(target, word, parameters);
    more = comma != std::string_view::npos;
    if (more) rest.remove_prefix(comma + 1);
  }
}

// ":NAME=VALUE,..." of all that have not their default; empty if all have.
template <class T>
std::string FormatParameters(const T& target, std::span<const Parameter<T>> parameters) {
  std::string text;
  for (const Parameter<T>& parameter : parameters) {
    const auto value = parameter.format(target);
    if (!value) continue;
    text += text.empty() ? ':' : ',';
    text += parameter.flag ? *value : fmt::format("{}={}", parameter.name, *value);
  }
  return text;
}

template <auto member, class T>
constexpr Parameter<T> ProbabilityParameter(std::string_view name) {
  return {name, [](T& target, std::string_view value) { target.*member = ParseProbability(value); },
          [](const T& target) -> std::optional<std::string> {
            if (target.*member == T().*member) return std::nullopt;
            return FormatProbability(target.*member);
          }};
}

}  // namespace viaduct::path
