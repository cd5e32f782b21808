#include "path/model/loss.h"

#include "path/grammar/parameters.h"

namespace viaduct::path {
namespace {

// Below 2^63, so that sums of two numbers of packets do not overflow.
constexpr int64_t kMaxPackets = 1000000000000000000;

constexpr Parameter<Chance> kChance[] = {ProbabilityParameter<&Chance::correlation>("corr")};
constexpr Parameter<GilbertElliott> kGilbertElliott[] = {
    ProbabilityParameter<&GilbertElliott::p>("p"), ProbabilityParameter<&GilbertElliott::r>("r"),
    ProbabilityParameter<&GilbertElliott::bad_loss>("1-h"),
    ProbabilityParameter<&GilbertElliott::good_loss>("1-k")};
constexpr Parameter<FourStateMarkov> kFourState[] = {
    ProbabilityParameter<&FourStateMarkov::p13>("p13"),
    ProbabilityParameter<&FourStateMarkov::p31>("p31"),
    ProbabilityParameter<&FourStateMarkov::p32>("p32"),
    ProbabilityParameter<&FourStateMarkov::p23>("p23"),
    ProbabilityParameter<&FourStateMarkov::p14>("p14")};
constexpr Parameter<PeriodicLoss> kPeriodic[] = {
    IntegerParameter<1, kMaxPackets, &PeriodicLoss::every>("every"),
    IntegerParameter<1, kMaxPackets, &PeriodicLoss::burst>("burst"),
    IntegerParameter<1, kMaxPackets, &PeriodicLoss::first>("first")};

Loss ParseGilbertElliott(std::string_view text) {
  GilbertElliott loss;
  const auto given = ParseParameters(loss, text, kGilbertElliott);
  if (!given[0]) throw UsageError("gemodel: needs p, as in gemodel:p=1%,r=10%");
  if (!given[1]) loss.r = 1 - loss.p;
  return loss;
}

Loss ParseFourState(std::string_view text) {
  FourStateMarkov loss;
  const auto given = ParseParameters(loss, text, kFourState);
  if (!given[0]) throw UsageError("state: needs p13, as in state:p13=1%,p31=90%");
  if (!given[1]) loss.p31 = 1 - loss.p13;
  return loss;
}

Loss ParsePeriodic(std::string_view text) {
  PeriodicLoss loss;
  const auto given = ParseParameters(loss, text, kPeriodic);
  if (!given[0]) throw UsageError("periodic: needs every, as in periodic:every=100");
  if (!given[2]) loss.first = loss.every;
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

void Check(const Chance& chance) { CheckChance(chance); }
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

std::string Text(const Chance& loss) { return FormatChance(loss); }
std::string Text(const GilbertElliott& loss) {
  return "gemodel:" + FormatAll(loss, kGilbertElliott);
}
std::string Text(const FourStateMarkov& loss) { return "state:" + FormatAll(loss, kFourState); }
std::string Text(const PeriodicLoss& loss) { return "periodic:" + FormatAll(loss, kPeriodic); }
std::string Text(const LossTrace& loss) { return "trace:" + loss.file; }
std::string Text(const LossList& list) {
  std::string text = "list";
  for (const LossList::Range& range : list.ranges) {
    text += fmt::format("{}{}", text == "list" ? ":" : ",", range.first);
    if (range.last != range.first) text += fmt::format("-{}", range.last);
  }
  return text;
}

// A probability alone is a Chance.
struct LossRow {
  std::string_view name;
  Loss (*parse)(std::string_view parameters);
};
constexpr LossRow kLossModels[] = {
    {"gemodel", ParseGilbertElliott},
    {"state", ParseFourState},
    {"periodic", ParsePeriodic},
    {"list", ParseList},
    {"trace", [](std::string_view file) -> Loss { return LossTrace{std::string(file)}; }}};

}  // namespace

Chance ParseChance(std::string_view value) {
  const auto [head, parameters] = SplitHead(value);
  Chance chance{ParseProbability(head)};
  ParseParameters(chance, parameters, kChance);
  CheckChance(chance);
  return chance;
}

std::string FormatChance(const Chance& chance) {
  return JoinHead(FormatProbability(chance.probability), FormatChanged(chance, kChance));
}

void CheckChance(const Chance& chance) {
  if (chance.correlation < 1) return;
  throw UsageError("corr: 100% would repeat the first decision forever; give less");
}

Loss ParseLoss(std::string_view value) {
  const auto [head, parameters] = SplitHead(value);
  std::vector<std::string_view> known;
  for (const LossRow& row : kLossModels) {
    if (row.name == head) return row.parse(parameters);
    known.push_back(row.name);
  }
  if (!head.empty() && (head[0] < '0' || head[0] > '9')) {
    throw UsageError(fmt::format("\"{}\": unknown; give a probability as in \"1%\", or one of {}",
                                 head, fmt::join(known, ", ")));
  }
  return ParseChance(value);
}

std::string FormatLoss(const Loss& loss) {
  return std::visit([](const auto& model) { return Text(model); }, loss);
}

void CheckLoss(const Loss& loss) {
  std::visit([](const auto& model) { Check(model); }, loss);
}

}  // namespace viaduct::path
