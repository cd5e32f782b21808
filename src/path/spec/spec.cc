#include "path/spec/spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "base/error.h"
#include "base/units.h"
#include "path/spec/spec_aqm.h"
#include "path/spec/spec_loss.h"
#include "path/spec/spec_parameters.h"

namespace viaduct::path {
namespace {

constexpr std::string_view kWhiteSpace = " \t\r\n";
constexpr std::string_view kTrace = "trace:", kMahimahi = "mahimahi:";
constexpr std::array<std::string_view, 4> kDistributions = {"uniform", "normal", "pareto",
                                                            "paretonormal"};

std::string OneOf(std::span<const std::string_view> names, std::string_view text) {
  std::string all;
  for (std::string_view name : names) {
    if (name == text) return std::string(text);
    all += (all.empty() ? "" : ", ") + std::string(name);
  }
  throw UsageError(fmt::format("\"{}\": unknown; give one of {}", text, all));
}

// What follows `prefix`, a file's name; nothing when the value does not start with it.
std::optional<std::string> FileAfter(std::string_view prefix, std::string_view value) {
  if (!value.starts_with(prefix)) return std::nullopt;
  value.remove_prefix(prefix.size());
  if (value.empty()) throw UsageError(fmt::format("needs a file, as in {}FILE", prefix));
  return std::string(value);
}

void ParseDelay(Spec& spec, std::string_view value) {
  spec.delay_trace = FileAfter(kTrace, value);
  if (!spec.delay_trace) spec.delay = ParseSpan(value);
}

std::string FormatDelay(const Spec& spec) {
  if (spec.delay_trace) return std::string(kTrace) + *spec.delay_trace;
  return spec.delay ? FormatDuration(*spec.delay) : "";
}

constexpr Parameter<Spec> kJitter[] = {
    ProbabilityParameter<&Spec::jitter_correlation, Spec>("corr")};
constexpr Parameter<Spec> kBitErrors[] = {
    {"header", [](Spec& spec, std::string_view) { spec.header_bit_errors = true; },
     [](const Spec& spec) -> std::optional<std::string> {
       if (!spec.header_bit_errors) return std::nullopt;
       return "header";
     },
     true}};
constexpr Parameter<Reorder> kReorder[] = {
    {"gap",
     [](Reorder& reorder, std::string_view value) {
       reorder.gap = ParseInteger(value, 1, 1000000000);
     },
     [](const Reorder& reorder) -> std::optional<std::string> {
       if (reorder.gap == 1) return std::nullopt;
       return std::to_string(reorder.gap);
     }},
    {"corr",
     [](Reorder& reorder, std::string_view value) {
       reorder.chance.correlation = ParseProbability(value);
     },
     [](const Reorder& reorder) -> std::optional<std::string> {
       if (reorder.chance.correlation == 0) return std::nullopt;
       return FormatProbability(reorder.chance.correlation);
     }}};

void ParseJitter(Spec& spec, std::string_view value) {
  const auto [head, parameters] = SplitHead(value);
  spec.jitter = ParseSpan(head);
  ParseParameters(spec, parameters, std::span<const Parameter<Spec>>(kJitter));
}

std::string FormatJitter(const Spec& spec) {
  if (!spec.jitter) return "";
  return FormatDuration(*spec.jitter) +
         FormatParameters(spec, std::span<const Parameter<Spec>>(kJitter));
}

void ParseDistribution(Spec& spec, std::string_view value) {
  spec.distribution = IsDistributionFile(value) ? std::string(value) : OneOf(kDistributions, value);
}

void ParseReorder(Spec& spec, std::string_view value) {
  const auto [head, parameters] = SplitHead(value);
  Reorder reorder{Chance{ParseProbability(head)}};
  ParseParameters(reorder, parameters, std::span<const Parameter<Reorder>>(kReorder));
  spec.reorder = reorder;
}

std::string FormatReorder(const Spec& spec) {
  if (!spec.reorder) return "";
  return FormatProbability(spec.reorder->chance.probability) +
         FormatParameters(*spec.reorder, std::span<const Parameter<Reorder>>(kReorder));
}

void ParseBitErrors(Spec& spec, std::string_view value) {
  const auto [head, parameters] = SplitHead(value);
  spec.bit_error_rate = ParseProbability(head);
  ParseParameters(spec, parameters, std::span<const Parameter<Spec>>(kBitErrors));
}

std::string FormatBitErrors(const Spec& spec) {
  if (!spec.bit_error_rate) return "";
  return FormatProbability(*spec.bit_error_rate) +
         FormatParameters(spec, std::span<const Parameter<Spec>>(kBitErrors));
}

void ParseLinkRate(Spec& spec, std::string_view value) {
  if (auto file = FileAfter(kMahimahi, value)) {
    spec.rate_trace = {RateTrace::Format::kMahimahi, std::move(*file)};
  } else if (auto times = FileAfter(kTrace, value)) {
    spec.rate_trace = {RateTrace::Format::kRateOverTime, std::move(*times)};
  } else {
    spec.rate = ParseRate(value);
  }
}

std::string FormatLinkRate(const Spec& spec) {
  if (!spec.rate_trace) return spec.rate ? FormatRate(*spec.rate) : "";
  return std::string(spec.rate_trace->format == RateTrace::Format::kMahimahi ? kMahimahi : kTrace) +
         spec.rate_trace->file;
}

int64_t ParseSmallBytes(std::string_view value, int64_t low, int64_t high) {
  const int64_t bytes = ParseBytes(value);
  if (bytes < low || bytes > high) {
    throw UsageError(
        fmt::format("\"{}\": give {} to {}", value, FormatBytes(low), FormatBytes(high)));
  }
  return bytes;
}

// The one table of keys: what reads a value, what writes it back (empty when the spec does not
// say), what takes it away; and what the reference says.
struct Key {
  SpecKey text;
  void (*parse)(Spec& spec, std::string_view value);
  std::string (*format)(const Spec& spec);
  void (*clear)(Spec& spec);
};

template <auto... members>
void Clear(Spec& spec) {
  ((spec.*members = Spec().*members), ...);
}

constexpr Key kKeys[] = {
    {{"delay", "a duration, or `trace:FILE`",
      "How long every frame is under way, after the queue. `trace:FILE`: a text file with one "
      "duration a line and frame (`20ms`), begun again after its end; or `TIME DELAY` in every "
      "line, "
      "times ascending from 0 (the first frame): the delay from then on; `TIME repeat` at the "
      "end "
      "begins again.",
      "20ms"},
     ParseDelay,
     FormatDelay,
     Clear<&Spec::delay, &Spec::delay_trace>},
    {{"jitter", "a duration[`:corr=P`]",
      "How far the delay strays from `delay`: at most (uniform), or the unit of the table (normal: "
      "the standard deviation). A delay never is below zero. Larger than `delay` only with "
      "`order=free`. `corr`: how far each frame's delay follows the one before (a Gaussian "
      "process of this correlation; the distribution stays as asked).",
      "2ms:corr=25%"},
     ParseJitter,
     FormatJitter,
     Clear<&Spec::jitter, &Spec::jitter_correlation>},
    {{"dist", "uniform, normal, pareto, paretonormal, or a file",
      "How jitter is distributed; default uniform. A file (a `/` or `.` in its name) is a table in "
      "netem's format, as iproute2 installs them.",
      "normal"},
     ParseDistribution,
     [](const Spec& spec) { return spec.distribution.value_or(""); },
     Clear<&Spec::distribution>},
    {{"order", "keep or free",
      "Whether a frame with a shorter delay may overtake (`free`, the default) or is delivered "
      "together with the one before it (`keep`).",
      "keep"},
     [](Spec& spec, std::string_view value) {
       constexpr std::array<std::string_view, 2> kOrders = {"keep", "free"};
       spec.order = OneOf(kOrders, value) == "keep" ? Order::kKeep : Order::kFree;
     },
     [](const Spec& spec) -> std::string {
       if (!spec.order) return "";
       return *spec.order == Order::kKeep ? "keep" : "free";
     },
     Clear<&Spec::order>},
    {{"loss",
      "P[`:corr=P`], `gemodel:p=P,r=P,1-h=P,1-k=P`, `state:p13=P,p31=P,p32=P,p23=P,p14=P`, "
      "`periodic:every=N,burst=N,first=N`, `list:N,N-N,...`, `trace:FILE`",
      "Loses frames: independently or with a correlation between neighbours; Gilbert-Elliott "
      "(default r=1-p, 1-h=100%, 1-k=0); the 4-state Markov model (default p31=1-p13, p32=0, "
      "p23=100%, p14=0); `burst` (1) in every N, the first time at frame `first` (N); frames of "
      "these numbers, counted from 1; as a text file says (0 passes, 1 is lost, begun again after "
      "its end).",
      "gemodel:p=1%,r=10%"},
     [](Spec& spec, std::string_view value) { spec.loss = ParseLoss(value); },
     [](const Spec& spec) { return spec.loss ? FormatLoss(*spec.loss) : ""; },
     Clear<&Spec::loss>},
    {{"dup", "P[`:corr=P`]", "Sends a frame twice.", "0.1%"},
     [](Spec& spec, std::string_view value) { spec.duplicate = ParseChance(value); },
     [](const Spec& spec) { return spec.duplicate ? FormatChance(*spec.duplicate) : ""; },
     Clear<&Spec::duplicate>},
    {{"reorder", "P[`:gap=N,corr=P`]",
      "Takes a frame out of turn: it is not delayed, so it overtakes what is under way. `gap`: "
      "only "
      "every N-th frame may be. Needs `delay`.",
      "25%:gap=5"},
     ParseReorder,
     FormatReorder,
     Clear<&Spec::reorder>},
    {{"ber", "P[`:header`]",
      "Bit error rate: each bit of a frame behind its Ethernet header is flipped with this "
      "probability; with `header` the bits of the header too. Checksums are left wrong.",
      "1e-9"},
     ParseBitErrors,
     FormatBitErrors,
     Clear<&Spec::bit_error_rate, &Spec::header_bit_errors>},
    {{"rate", "a rate, `mahimahi:FILE` or `trace:FILE`",
      "Bits a second of the link. Files: Mahimahi's packet-delivery trace (each line a millisecond "
      "in which 1500 bytes may pass), or `TIME RATE` in every line, times ascending from 0; "
      "`TIME "
      "repeat` at the end begins again.",
      "10Mbit"},
     ParseLinkRate,
     FormatLinkRate,
     Clear<&Spec::rate, &Spec::rate_trace>},
    {{"overhead", "bytes",
      "Added to each frame for its time on the link: 24 for Ethernet's preamble, FCS and gap.",
      "24B"},
     [](Spec& spec, std::string_view value) { spec.overhead = ParseSmallBytes(value, 0, 65535); },
     [](const Spec& spec) { return spec.overhead ? FormatBytes(*spec.overhead) : ""; },
     Clear<&Spec::overhead>},
    {{"burst", "bytes",
      "Depth of a token bucket: so much may pass at once after the link was idle. Default: none, "
      "every frame takes its time on the link.",
      "15kB"},
     [](Spec& spec, std::string_view value) {
       spec.burst = ParseSmallBytes(value, 64, int64_t{1} << 40);
     },
     [](const Spec& spec) { return spec.burst ? FormatBytes(*spec.burst) : ""; },
     Clear<&Spec::burst>},
    {{"queue", "packets (`100p`), bytes (`64kB`) or time (`20ms`)",
      "What may wait for the link. Default `100p`; with codel and pie `1000p`, with fq_codel "
      "`10240p`.",
      "100p"},
     [](Spec& spec, std::string_view value) { spec.queue = ParseQueue(value); },
     [](const Spec& spec) { return spec.queue ? FormatQueue(*spec.queue) : ""; },
     Clear<&Spec::queue>},
    {{"drop", "tail or head",
      "Which frame a full queue drops: the one that comes (default) or the oldest.", "head"},
     [](Spec& spec, std::string_view value) {
       constexpr std::array<std::string_view, 2> kEnds = {"tail", "head"};
       spec.drop = OneOf(kEnds, value) == "tail" ? DropAt::kTail : DropAt::kHead;
     },
     [](const Spec& spec) -> std::string {
       if (!spec.drop) return "";
       return *spec.drop == DropAt::kTail ? "tail" : "head";
     },
     Clear<&Spec::drop>},
    {{"aqm",
      "codel[`:target=T,interval=T,ecn`], pie[`:target=T,update=T,burst=T,alpha=X,beta=X,ecn`], "
      "red[`:min=Q,max=Q,prob=P,weight=P,gentle,ecn`], "
      "fq_codel[`:flows=N,quantum=N,target=T,interval=T,noecn`]",
      "Active queue management: CoDel (RFC 8289), PIE (RFC 8033), RED (Floyd and Jacobson 1993), "
      "FQ-CoDel (RFC 8290). Defaults are the RFCs'. `ecn`: marks (ECN CE) where the packet allows "
      "it.",
      "codel:target=5ms,ecn"},
     [](Spec& spec, std::string_view value) { spec.aqm = ParseAqm(value); },
     [](const Spec& spec) { return spec.aqm ? FormatAqm(*spec.aqm) : ""; },
     Clear<&Spec::aqm>},
};

const Key& FindKey(std::string_view name) {
  std::string all;
  for (const Key& key : kKeys) {
    if (key.text.name == name) return key;
    all += (all.empty() ? "" : ", ") + std::string(key.text.name);
  }
  throw UsageError(fmt::format("SPEC: unknown key \"{}\"; known are {}", name, all));
}

// Calls `use(key, value)` for every word.
template <class Use>
void ForEachWord(std::string_view text, Use use) {
  std::array<bool, std::size(kKeys)> given{};
  size_t at = text.find_first_not_of(kWhiteSpace);
  while (at != std::string_view::npos) {
    const size_t end = std::min(text.find_first_of(kWhiteSpace, at), text.size());
    const std::string_view word = text.substr(at, end - at);
    const size_t equals = word.find('=');
    if (equals == std::string_view::npos) {
      throw UsageError(
          fmt::format("SPEC: \"{}\" is not KEY=VALUE; give for example delay=20ms", word));
    }
    const Key& key = FindKey(word.substr(0, equals));
    bool& before = given[static_cast<size_t>(&key - kKeys)];
    if (before) throw UsageError(fmt::format("SPEC: {}: given twice; give it once", key.text.name));
    before = true;
    use(key, word.substr(equals + 1));
    at = text.find_first_not_of(kWhiteSpace, end);
  }
}

void ParseValue(Spec& spec, const Key& key, std::string_view value) {
  try {
    key.parse(spec, value);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("SPEC: {}: {}", key.text.name, error.what()));
  }
}

[[noreturn]] void Fail(std::string_view key, std::string_view why) {
  throw UsageError(fmt::format("SPEC: {}: {}", key, why));
}

void CheckDelay(const Spec& spec) {
  if (spec.distribution && !spec.jitter) {
    Fail("dist", "says how jitter is distributed; give jitter too");
  }
  if (spec.jitter_correlation >= 1) {
    Fail("jitter", "corr: 100% would repeat the first delay for ever; give less");
  }
  if (spec.jitter && spec.order != Order::kFree && !spec.delay_trace &&
      *spec.jitter > spec.delay.value_or(Duration())) {
    Fail("jitter", fmt::format("{} is larger than delay={}; give a larger delay, or allow frames "
                               "to overtake with order=free",
                               FormatDuration(*spec.jitter),
                               FormatDuration(spec.delay.value_or(Duration()))));
  }
}

void CheckReorder(const Spec& spec) {
  if (!spec.reorder) return;
  if (!spec.delay && !spec.delay_trace) {
    Fail("reorder", "needs delay (a reordered frame is one not delayed); give delay too");
  }
  if (spec.order == Order::kKeep) Fail("reorder", "contradicts order=keep; leave one out");
  if (spec.reorder->chance.correlation >= 1) {
    Fail("reorder", "corr: 100% would repeat the first decision for ever; give less");
  }
}

void CheckQueue(const Spec& spec) {
  if (spec.HasRate()) return;
  constexpr std::string_view kWhy = "has a meaning only together with rate; give rate too";
  if (spec.overhead) Fail("overhead", kWhy);
  if (spec.burst) Fail("burst", kWhy);
  if (spec.queue) Fail("queue", kWhy);
  if (spec.drop) Fail("drop", kWhy);
  if (spec.aqm) Fail("aqm", kWhy);
}

void CheckRate(const Spec& spec) {
  if (spec.rate_trace && spec.burst) {
    Fail("burst", "has a meaning only together with a constant rate; leave it out");
  }
  if (spec.aqm && spec.drop == DropAt::kHead) {
    Fail("drop", fmt::format("aqm={} drops its own way; leave one out", spec.aqm->name));
  }
  if (spec.aqm && spec.queue && spec.queue->unit == Queue::Unit::kTime) {
    Fail("queue", "an aqm's limit is in packets or bytes; give \"100p\" or \"64kB\"");
  }
}

}  // namespace

bool IsDistributionFile(std::string_view distribution) {
  return distribution.find_first_of("/.") != std::string_view::npos;
}

void CheckSpec(const Spec& spec) {
  CheckDelay(spec);
  CheckReorder(spec);
  CheckQueue(spec);
  CheckRate(spec);
  try {
    if (spec.loss) CheckLoss(*spec.loss);
  } catch (const UsageError& error) {
    Fail("loss", error.what());
  }
}

Spec ParseSpec(std::string_view text) {
  Spec spec;
  ForEachWord(text,
              [&spec](const Key& key, std::string_view value) { ParseValue(spec, key, value); });
  CheckSpec(spec);
  return spec;
}

Spec ChangeSpec(const Spec& base, std::string_view text) {
  Spec spec = base;
  ForEachWord(text, [&spec](const Key& key, std::string_view value) {
    key.clear(spec);
    if (value != "none") ParseValue(spec, key, value);
  });
  CheckSpec(spec);
  return spec;
}

std::string FormatSpec(const Spec& spec) {
  std::string text;
  for (const Key& key : kKeys) {
    const std::string value = key.format(spec);
    if (value.empty()) continue;
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", key.text.name, value);
  }
  return text;
}

std::string FirstBeyondBasics(const Spec& spec) {
  Spec basics;
  basics.delay = spec.delay;
  basics.jitter = spec.jitter;
  if (!spec.distribution || !IsDistributionFile(*spec.distribution)) {
    basics.distribution = spec.distribution;
  }
  const auto* chance = spec.loss ? std::get_if<Chance>(&*spec.loss) : nullptr;
  if (chance) basics.loss = Chance{chance->probability};
  if (spec.duplicate) basics.duplicate = Chance{spec.duplicate->probability};
  if (spec.reorder) basics.reorder = Reorder{Chance{spec.reorder->chance.probability}};
  basics.bit_error_rate = spec.bit_error_rate;
  basics.rate = spec.rate;
  basics.queue = spec.queue;
  if (spec.aqm) basics.aqm = Aqm(spec.aqm->name);
  for (const Key& key : kKeys) {
    const std::string value = key.format(spec);
    if (value != key.format(basics)) return fmt::format("{}={}", key.text.name, value);
  }
  return "";
}

std::vector<SpecKey> SpecKeys() {
  std::vector<SpecKey> keys;
  for (const Key& key : kKeys) keys.push_back(key.text);
  return keys;
}

}  // namespace viaduct::path
