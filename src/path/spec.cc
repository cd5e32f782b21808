#include "path/spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "base/error.h"
#include "base/units.h"

namespace viaduct::path {
namespace {

constexpr std::string_view kWhiteSpace = " \t\r\n";
constexpr std::array<std::string_view, 4> kDistributions = {"uniform", "normal", "pareto",
                                                            "paretonormal"};
constexpr std::array<std::string_view, 4> kAqms = {"codel", "pie", "red", "fq_codel"};

template <class T>
void SetOnce(std::optional<T>& member, T value) {
  if (member) throw UsageError("given twice; give it once");
  member = std::move(value);
}

std::string OneOf(std::span<const std::string_view> names, std::string_view text) {
  std::string all;
  for (std::string_view name : names) {
    if (name == text) return std::string(text);
    all += (all.empty() ? "" : ", ") + std::string(name);
  }
  throw UsageError(fmt::format("\"{}\": unknown; give one of {}", text, all));
}

Queue ParseQueue(std::string_view text) {
  constexpr std::string_view kAccepted = "packets (\"100p\"), bytes (\"64kB\") or time (\"20ms\")";
  if (text.empty()) throw UsageError(fmt::format("no value; give {}", kAccepted));
  Queue queue;
  if (text.ends_with('p')) {
    queue.amount = ParseInteger(text.substr(0, text.size() - 1), 1, 1000000000);
    return queue;
  }
  const size_t unit_start = text.find_first_not_of("0123456789.");
  if (unit_start == std::string_view::npos) {
    throw UsageError(fmt::format("\"{}\": a queue needs its unit; give {}", text, kAccepted));
  }
  const std::string_view unit = text.substr(unit_start);
  if (unit == "h" || unit == "min" || unit.ends_with('s')) {
    queue = {Queue::Unit::kTime, ParseDuration(text).nanoseconds()};
  } else {
    queue = {Queue::Unit::kBytes, ParseBytes(text)};
  }
  if (queue.amount == 0) throw UsageError(fmt::format("\"{}\": must be greater than zero", text));
  return queue;
}

std::string FormatQueue(const Queue& queue) {
  switch (queue.unit) {
    case Queue::Unit::kPackets:
      return std::to_string(queue.amount) + "p";
    case Queue::Unit::kBytes:
      return FormatBytes(queue.amount);
    case Queue::Unit::kTime:
      break;
  }
  return FormatDuration(Duration::Nanoseconds(queue.amount));
}

// The one table of keys: what reads a value, what writes it back.
struct Key {
  std::string_view name;
  void (*parse)(Spec& spec, std::string_view value);
  std::string (*format)(const Spec& spec);  // empty when the spec does not say
};

template <std::optional<Duration> Spec::*member>
constexpr Key DurationKey(std::string_view name) {
  return {name,
          [](Spec& spec, std::string_view value) { SetOnce(spec.*member, ParseDuration(value)); },
          [](const Spec& spec) { return spec.*member ? FormatDuration(*(spec.*member)) : ""; }};
}

template <std::optional<double> Spec::*member>
constexpr Key ProbabilityKey(std::string_view name) {
  return {
      name,
      [](Spec& spec, std::string_view value) { SetOnce(spec.*member, ParseProbability(value)); },
      [](const Spec& spec) { return spec.*member ? FormatProbability(*(spec.*member)) : ""; }};
}

constexpr Key kKeys[] = {
    DurationKey<&Spec::delay>("delay"),
    DurationKey<&Spec::jitter>("jitter"),
    {"dist",
     [](Spec& spec, std::string_view value) {
       SetOnce(spec.distribution, OneOf(kDistributions, value));
     },
     [](const Spec& spec) { return spec.distribution.value_or(""); }},
    ProbabilityKey<&Spec::loss>("loss"),
    ProbabilityKey<&Spec::duplicate>("dup"),
    ProbabilityKey<&Spec::reorder>("reorder"),
    ProbabilityKey<&Spec::bit_error_rate>("ber"),
    {"rate", [](Spec& spec, std::string_view value) { SetOnce(spec.rate, ParseRate(value)); },
     [](const Spec& spec) { return spec.rate ? FormatRate(*spec.rate) : ""; }},
    {"queue", [](Spec& spec, std::string_view value) { SetOnce(spec.queue, ParseQueue(value)); },
     [](const Spec& spec) { return spec.queue ? FormatQueue(*spec.queue) : ""; }},
    {"aqm", [](Spec& spec, std::string_view value) { SetOnce(spec.aqm, OneOf(kAqms, value)); },
     [](const Spec& spec) { return spec.aqm.value_or(""); }},
};

const Key& FindKey(std::string_view name) {
  std::string all;
  for (const Key& key : kKeys) {
    if (key.name == name) return key;
    all += (all.empty() ? "" : ", ") + std::string(key.name);
  }
  throw UsageError(fmt::format("SPEC: unknown key \"{}\"; known are {}", name, all));
}

void ParseWord(Spec& spec, std::string_view word) {
  const size_t equals = word.find('=');
  if (equals == std::string_view::npos) {
    throw UsageError(
        fmt::format("SPEC: \"{}\" is not KEY=VALUE; give for example delay=20ms", word));
  }
  const Key& key = FindKey(word.substr(0, equals));
  try {
    key.parse(spec, word.substr(equals + 1));
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("SPEC: {}: {}", key.name, error.what()));
  }
}

}  // namespace

Spec ParseSpec(std::string_view text) {
  Spec spec;
  size_t at = text.find_first_not_of(kWhiteSpace);
  while (at != std::string_view::npos) {
    const size_t end = std::min(text.find_first_of(kWhiteSpace, at), text.size());
    ParseWord(spec, text.substr(at, end - at));
    at = text.find_first_not_of(kWhiteSpace, end);
  }
  if (spec.distribution && !spec.jitter) {
    throw UsageError("SPEC: dist: says how jitter is distributed; give jitter too");
  }
  return spec;
}

std::string FormatSpec(const Spec& spec) {
  std::string text;
  for (const Key& key : kKeys) {
    const std::string value = key.format(spec);
    if (value.empty()) continue;
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", key.name, value);
  }
  return text;
}

}  // namespace viaduct::path
