#include "path/spec/spec_loss.h"

#include <limits>

namespace viaduct::path {
namespace {

// Below 2^63, so that sums of two numbers of packets do not overflow.
constexpr int64_t kMaxPackets = 1000000000000000000;

template <auto member, class T>
constexpr Parameter<T> Always(std::string_view name) {
  return {name, [](T& target, std::string_view value) { target.*member = ParseProbability(value); },
          [](const T& target) -> std::optional<std::string> {
            return FormatProbability(target.*member);
          }};
}

template <uint64_t PeriodicLoss::*member>
constexpr Parameter<PeriodicLoss> CountParameter(std::string_view name) {
  return {name,
          [](PeriodicLoss& loss, std::string_view value) {
            loss.*member = static_cast<uint64_t>(ParseInteger(value, 1, kMaxPackets));
          },
          [](const PeriodicLoss& loss) -> std::optional<std::string> {
            return std::to_string(loss.*member);
          }};
}

constexpr Parameter<Chance> kChance[] = {
    ProbabilityParameter<&Chance::correlation, Chance>("corr")};
constexpr Parameter<GilbertElliott> kGilbertElliott[] = {
    Always<&GilbertElliott::p, GilbertElliott>("p"),
    Always<&GilbertElliott::r, GilbertElliott>("r"),
    Always<&GilbertElliott::bad_loss, GilbertElliott>("1-h"),
    Always<&GilbertElliott::good_loss, GilbertElliott>("1-k")};
constexpr Parameter<FourStateMarkov> kFourState[] = {
    Always<&FourStateMarkov::p13, FourStateMarkov>("p13"),
    Always<&FourStateMarkov::p31, FourStateMarkov>("p31"),
    Always<&FourStateMarkov::p32, FourStateMarkov>("p32"),
    Always<&FourStateMarkov::p23, FourStateMarkov>("p23"),
    Always<&FourStateMarkov::p14, FourStateMarkov>("p14")};
constexpr Parameter<PeriodicLoss> kPeriodic[] = {CountParameter<&PeriodicLoss::every>("every"),
                                                 CountParameter<&PeriodicLoss::burst>("burst"),
                                                 CountParameter<&PeriodicLoss::first>("first")};

template <class T, size_t n>
void Read(T& target, std::string_view text, const Parameter<T> (&parameters)[n]) {
  ParseParameters(target, text, std::span<const Parameter<T>>(parameters));
}

template <class T, size_t n>
std::string Write(const T& target, const Parameter<T> (&parameters)[n]) {
  return FormatParameters(target, std::span<const Parameter<T>>(parameters));
}

Loss ParseGilbertElliott(std::string_view text) {
  GilbertElliott loss;
  loss.p = loss.r = -1;
  Read(loss, text, kGilbertElliott);
  if (loss.p < 0) throw UsageError("gemodel: needs p, as in gemodel:p=1%,r=10%");
  if (loss.r < 0) loss.r = 1 - loss.p;
  return loss;
}

Loss ParseFourState(std::string_view text) {
  FourStateMarkov loss;
  loss.p13 = loss.p31 = -1;
  Read(loss, text, kFourState);
  if (loss.p13 < 0) throw UsageError("state: needs p13, as in state:p13=1%,p31=90%");
  if (loss.p31 < 0) loss.p31 = 1 - loss.p13;
  return loss;
}

Loss ParsePeriodic(std::string_view text) {
  PeriodicLoss loss;
  loss.every = loss.first = 0;
  Read(loss, text, kPeriodic);
  if (loss.every == 0) throw UsageError("periodic: needs every, as in periodic:every=100");
  if (loss.first == 0) loss.first = loss.every;
  return loss;
}

LossList::Range ParseRange(std::string_view text) {
  const size_t dash = text.find('-');
  const int64_t first = ParseInteger(text.substr(0, dash), 1, kMaxPackets);
  const int64_t last = dash == std::string_view::npos
                           ? first
                           : ParseInteger(text.substr(dash + 1), first, kMaxPackets);
  return {static_cast<uint64_t>(first), static_cast<uint64_t>(last)};
}

Loss ParseList(std::string_view text) {
  LossList list;
  for (bool more = true; more;) {
    const size_t comma = text.find(',');
    list.ranges.push_back(ParseRange(text.substr(0, comma)));
    more = comma != std::string_view::npos;
    if (more) text.remove_prefix(comma + 1);
  }
  return list;
}

void Check(const Chance& chance) {
  if (chance.correlation >= 1) {
    throw UsageError("corr: 100% would repeat the first decision for ever; give less");
  }
}

void Check(const GilbertElliott&) {}

void Check(const FourStateMarkov& loss) {
  if (loss.p13 + loss.p14 > 1) throw UsageError("state: p13 and p14 add up to more than 100%");
  if (loss.p31 + loss.p32 > 1) throw UsageError("state: p31 and p32 add up to more than 100%");
}

void Check(const PeriodicLoss& loss) {
  if (loss.burst > loss.every) {
    throw UsageError(fmt::format("periodic: burst={} is more than every={}; give at most as many",
                                 loss.burst, loss.every));
  }
}

void Check(const LossList& list) {
  uint64_t last = 0;
  for (const LossList::Range& range : list.ranges) {
    if (range.first <= last || range.last < range.first) {
      throw UsageError(fmt::format("list: {} follows {}; give the numbers in ascending order",
                                   range.first, last));
    }
    last = range.last;
  }
}

void Check(const LossTrace& trace) {
  if (trace.file.empty()) throw UsageError("trace: needs a file, as in trace:FILE");
}

std::string FormatList(const LossList& list) {
  std::string text = "list";
  for (const LossList::Range& range : list.ranges) {
    text += fmt::format("{}{}", text == "list" ? ":" : ",", range.first);
    if (range.last != range.first) text += fmt::format("-{}", range.last);
  }
  return text;
}

struct Formatter {
  std::string operator()(const Chance& loss) { return FormatChance(loss); }
  std::string operator()(const GilbertElliott& loss) {
    return "gemodel" + Write(loss, kGilbertElliott);
  }
  std::string operator()(const FourStateMarkov& loss) { return "state" + Write(loss, kFourState); }
  std::string operator()(const PeriodicLoss& loss) { return "periodic" + Write(loss, kPeriodic); }
  std::string operator()(const LossList& loss) { return FormatList(loss); }
  std::string operator()(const LossTrace& loss) { return "trace:" + loss.file; }
};

}  // namespace

Chance ParseChance(std::string_view value) {
  const auto [head, parameters] = SplitHead(value);
  Chance chance{ParseProbability(head)};
  Read(chance, parameters, kChance);
  Check(chance);
  return chance;
}

std::string FormatChance(const Chance& chance) {
  return FormatProbability(chance.probability) + Write(chance, kChance);
}

Loss ParseLoss(std::string_view value) {
  const auto [head, rest] = SplitHead(value);
  if (head == "gemodel") return ParseGilbertElliott(rest);
  if (head == "state") return ParseFourState(rest);
  if (head == "periodic") return ParsePeriodic(rest);
  if (head == "list") return ParseList(rest);
  if (head == "trace") return LossTrace{std::string(rest)};
  if (!head.empty() && (head[0] < '0' || head[0] > '9')) {
    throw UsageError(
        fmt::format("\"{}\": unknown; give a probability as in \"1%\", or one of "
                    "gemodel, state, periodic, list, trace",
                    head));
  }
  return ParseChance(value);
}

std::string FormatLoss(const Loss& loss) { return std::visit(Formatter(), loss); }

void CheckLoss(const Loss& loss) {
  std::visit([](const auto& model) { Check(model); }, loss);
}

}  // namespace viaduct::path
