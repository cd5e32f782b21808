#include "path/spec/spec_aqm.h"

#include <charconv>

#include "path/spec/spec_parameters.h"

namespace viaduct::path {
namespace {

template <std::optional<Duration> Aqm::*member>
constexpr Parameter<Aqm> Time(std::string_view name) {
  return {name,
          [](Aqm& aqm, std::string_view value) {
            aqm.*member = ParseSpan(value);
            if (*(aqm.*member) == Duration()) throw UsageError("must be greater than zero");
          },
          [](const Aqm& aqm) -> std::optional<std::string> {
            if (!(aqm.*member)) return std::nullopt;
            return FormatDuration(*(aqm.*member));
          }};
}

// A gain: any number from 0 to 1000.
double ParseGain(std::string_view text) {
  double value = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end.ec != std::errc() || end.ptr != text.data() + text.size() || !(value >= 0) ||
      value > 1000) {
    throw UsageError(fmt::format("\"{}\": give a number from 0 to 1000, as in \"1.25\"", text));
  }
  return value;
}

template <std::optional<double> Aqm::*member>
constexpr Parameter<Aqm> Gain(std::string_view name) {
  return {name, [](Aqm& aqm, std::string_view value) { aqm.*member = ParseGain(value); },
          [](const Aqm& aqm) -> std::optional<std::string> {
            if (!(aqm.*member)) return std::nullopt;
            return fmt::format("{}", *(aqm.*member));
          }};
}

template <std::optional<double> Aqm::*member>
constexpr Parameter<Aqm> Probability(std::string_view name) {
  return {name, [](Aqm& aqm, std::string_view value) { aqm.*member = ParseProbability(value); },
          [](const Aqm& aqm) -> std::optional<std::string> {
            if (!(aqm.*member)) return std::nullopt;
            return FormatProbability(*(aqm.*member));
          }};
}

template <std::optional<Queue> Aqm::*member>
constexpr Parameter<Aqm> Length(std::string_view name) {
  return {name,
          [](Aqm& aqm, std::string_view value) {
            aqm.*member = ParseQueue(value);
            if ((aqm.*member)->unit == Queue::Unit::kTime) {
              throw UsageError("give packets (\"30p\") or bytes (\"45kB\")");
            }
          },
          [](const Aqm& aqm) -> std::optional<std::string> {
            if (!(aqm.*member)) return std::nullopt;
            return FormatQueue(*(aqm.*member));
          }};
}

template <std::optional<int64_t> Aqm::*member, int64_t high>
constexpr Parameter<Aqm> Count(std::string_view name) {
  return {name,
          [](Aqm& aqm, std::string_view value) { aqm.*member = ParseInteger(value, 1, high); },
          [](const Aqm& aqm) -> std::optional<std::string> {
            if (!(aqm.*member)) return std::nullopt;
            return std::to_string(*(aqm.*member));
          }};
}

template <std::optional<bool> Aqm::*member, bool value>
constexpr Parameter<Aqm> Flag(std::string_view name) {
  return {name,
          [](Aqm& aqm, std::string_view) {
            if (aqm.*member) throw UsageError("contradicts what is given before");
            aqm.*member = value;
          },
          [](const Aqm& aqm) -> std::optional<std::string> {
            if (aqm.*member != value) return std::nullopt;
            return &(aqm.*member) == &aqm.ecn ? (value ? "ecn" : "noecn")
                                              : (value ? "gentle" : "nogentle");
          },
          true};
}

constexpr Parameter<Aqm> kCodel[] = {Time<&Aqm::target>("target"), Time<&Aqm::interval>("interval"),
                                     Flag<&Aqm::ecn, true>("ecn"), Flag<&Aqm::ecn, false>("noecn")};
constexpr Parameter<Aqm> kPie[] = {Time<&Aqm::target>("target"),   Time<&Aqm::update>("update"),
                                   Time<&Aqm::burst>("burst"),     Gain<&Aqm::alpha>("alpha"),
                                   Gain<&Aqm::beta>("beta"),       Flag<&Aqm::ecn, true>("ecn"),
                                   Flag<&Aqm::ecn, false>("noecn")};
constexpr Parameter<Aqm> kRed[] = {Length<&Aqm::low>("min"),
                                   Length<&Aqm::high>("max"),
                                   Probability<&Aqm::max_probability>("prob"),
                                   Probability<&Aqm::weight>("weight"),
                                   Flag<&Aqm::gentle, true>("gentle"),
                                   Flag<&Aqm::gentle, false>("nogentle"),
                                   Flag<&Aqm::ecn, true>("ecn"),
                                   Flag<&Aqm::ecn, false>("noecn")};
constexpr Parameter<Aqm> kFqCodel[] = {
    Time<&Aqm::target>("target"),       Time<&Aqm::interval>("interval"),
    Count<&Aqm::flows, 65536>("flows"), Count<&Aqm::quantum, 1 << 20>("quantum"),
    Flag<&Aqm::ecn, true>("ecn"),       Flag<&Aqm::ecn, false>("noecn")};

struct Discipline {
  std::string_view name;
  std::span<const Parameter<Aqm>> parameters;
};
constexpr Discipline kDisciplines[] = {
    {"codel", kCodel}, {"pie", kPie}, {"red", kRed}, {"fq_codel", kFqCodel}};

const Discipline& FindDiscipline(std::string_view name) {
  std::string all;
  for (const Discipline& discipline : kDisciplines) {
    if (discipline.name == name) return discipline;
    all += (all.empty() ? "" : ", ") + std::string(discipline.name);
  }
  throw UsageError(fmt::format("\"{}\": unknown; give one of {}", name, all));
}

void CheckCodel(const Aqm& aqm) {
  if (aqm.name != "codel" && aqm.name != "fq_codel") return;
  if (aqm.target.value_or(Duration::Milliseconds(5)) >=
      aqm.interval.value_or(Duration::Milliseconds(100))) {
    throw UsageError("target: must be less than interval (RFC 8289: 5% to 10% of it)");
  }
}

void CheckRed(const Aqm& aqm) {
  if (!aqm.low || !aqm.high) return;
  if (aqm.low->unit != aqm.high->unit) {
    throw UsageError("min and max: give both in packets or both in bytes");
  }
  if (aqm.low->amount >= aqm.high->amount) throw UsageError("min: must be less than max");
}

}  // namespace

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
    queue = {Queue::Unit::kTime, ParseSpan(text).nanoseconds()};
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

Aqm ParseAqm(std::string_view value) {
  const auto [name, parameters] = SplitHead(value);
  const Discipline& discipline = FindDiscipline(name);
  Aqm aqm(name);
  ParseParameters(aqm, parameters, discipline.parameters);
  CheckCodel(aqm);
  CheckRed(aqm);
  return aqm;
}

std::string FormatAqm(const Aqm& aqm) {
  return aqm.name + FormatParameters(aqm, FindDiscipline(aqm.name).parameters);
}

}  // namespace viaduct::path
