#include "path/spec/spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text/edit_distance.h"
#include "path/grammar/parameters.h"
#include "path/model/distribution.h"
#include "path/queue/disciplines.h"

namespace viaduct::path {
namespace {

constexpr std::string_view kWhiteSpace = " \t\r\n";
constexpr std::string_view kTrace = "trace:", kMahimahi = "mahimahi:";

// Returns the file name after `prefix`; nothing when the value does not start with it.
std::optional<std::string> FileAfter(std::string_view prefix, std::string_view value) {
  if (!value.starts_with(prefix)) return std::nullopt;
  value.remove_prefix(prefix.size());
  if (value.empty())
    throw UsageError(fmt::format("the file name is missing; expected {}FILE", prefix));
  return std::string(value);
}

// The binding of a key to its members of the Spec: functions that parse a value, format it (empty
// when the Spec has no value) and remove it.
struct Access {
  void (*parse)(Spec& spec, std::string_view value);
  std::string (*format)(const Spec& spec);
  void (*clear)(Spec& spec);
};

// Returns the Access of a key with one std::optional, to which the member pointers `way` lead.
template <auto parse, auto format, auto... way>
constexpr Access Value() {
  return {[](Spec& spec, std::string_view value) { Reach<way...>(spec) = parse(value); },
          [](const Spec& spec) {
            const auto& value = Reach<way...>(spec);
            return value ? std::string(format(*value)) : std::string();
          },
          [](Spec& spec) { Reach<way...>(spec).reset(); }};
}

constexpr Access kDelay = {[](Spec& spec, std::string_view value) {
                             spec.delay.trace = FileAfter(kTrace, value);
                             if (!spec.delay.trace) spec.delay.base = ParseSpan(value);
                           },
                           [](const Spec& spec) -> std::string {
                             if (spec.delay.trace) return std::string(kTrace) + *spec.delay.trace;
                             return spec.delay.base ? FormatDuration(*spec.delay.base) : "";
                           },
                           [](Spec& spec) { spec.delay.base.reset(), spec.delay.trace.reset(); }};

constexpr Access kRate = {
    [](Spec& spec, std::string_view value) {
      if (auto file = FileAfter(kMahimahi, value)) {
        spec.link.trace = {RateTrace::Format::kMahimahi, std::move(*file)};
      } else if (auto times = FileAfter(kTrace, value)) {
        spec.link.trace = {RateTrace::Format::kRateOverTime, std::move(*times)};
      } else {
        spec.link.rate = ParseRate(value);
      }
    },
    [](const Spec& spec) -> std::string {
      const auto& trace = spec.link.trace;
      if (!trace) return spec.link.rate ? FormatRate(*spec.link.rate) : "";
      const bool mahimahi = trace->format == RateTrace::Format::kMahimahi;
      return std::string(mahimahi ? kMahimahi : kTrace) + trace->file;
    },
    [](Spec& spec) { spec.link.rate.reset(), spec.link.trace.reset(); }};

// Parses HEAD[:PARAMETERS]; the head is stored in the member `head` of T.
template <class T, auto head, auto parse, size_t n>
T ParseWithHead(std::string_view value, const Parameter<T> (&parameters)[n]) {
  const auto [first, rest] = SplitHead(value);
  T target;
  target.*head = parse(first);
  ParseParameters(target, rest, parameters);
  return target;
}

constexpr Parameter<Jitter> kJitter[] = {ProbabilityParameter<&Jitter::correlation>("corr")};
Jitter ParseJitter(std::string_view value) {
  return ParseWithHead<Jitter, &Jitter::amount, ParseSpan>(value, kJitter);
}
std::string FormatJitter(const Jitter& jitter) {
  return JoinHead(FormatDuration(jitter.amount), FormatChanged(jitter, kJitter));
}

constexpr Parameter<BitErrorSpec> kErrors[] = {FlagParameter<&BitErrorSpec::header>("header")};
BitErrorSpec ParseErrors(std::string_view value) {
  return ParseWithHead<BitErrorSpec, &BitErrorSpec::rate, ParseProbability>(value, kErrors);
}
std::string FormatErrors(const BitErrorSpec& errors) {
  return JoinHead(FormatProbability(errors.rate), FormatChanged(errors, kErrors));
}

constexpr Parameter<Reorder> kReorder[] = {
    IntegerParameter<1, 1000000000, &Reorder::gap>("gap"),
    ProbabilityParameter<&Reorder::chance, &Chance::correlation>("corr")};
Reorder ParseReorder(std::string_view value) {
  const auto [head, parameters] = SplitHead(value);
  Reorder reorder{Chance{ParseProbability(head)}};
  ParseParameters(reorder, parameters, kReorder);
  return reorder;
}
std::string FormatReorder(const Reorder& reorder) {
  return JoinHead(FormatProbability(reorder.chance.probability), FormatChanged(reorder, kReorder));
}

std::string ParseDistribution(std::string_view value) {
  CheckDistribution(value);
  return std::string(value);
}
std::string FormatDistribution(const std::string& distribution) { return distribution; }

std::string ParseName(std::string_view value) {
  if (value.empty()) throw UsageError("the name is missing; specify a name, as in link=air");
  return std::string(value);
}
std::string FormatName(const std::string& name) { return name; }

constexpr Choice<Order> kOrders = {"keep", "free"};
constexpr Choice<DropAt> kEnds = {"tail", "head"};
constexpr Choice<FrameCheck> kFrameChecks = {"ignore", "drop"};

Order ParseOrder(std::string_view value) { return kOrders.Parse(value); }
std::string_view FormatOrder(Order order) { return kOrders.Format(order); }
DropAt ParseDrop(std::string_view value) { return kEnds.Parse(value); }
std::string_view FormatDrop(DropAt drop) { return kEnds.Format(drop); }
FrameCheck ParseFrameCheck(std::string_view value) { return kFrameChecks.Parse(value); }
std::string_view FormatFrameCheck(FrameCheck check) { return kFrameChecks.Format(check); }

template <int64_t low, int64_t high>
int64_t ParseBytesBetween(std::string_view value) {
  const int64_t bytes = ParseBytes(value);
  if (bytes >= low && bytes <= high) return bytes;
  throw UsageError(
      fmt::format("\"{}\": must be from {} to {}", value, FormatBytes(low), FormatBytes(high)));
}

// A row of the table of all keys.
struct Key {
  SpecKey text;
  Access access;
};

constexpr Key kKeys[] = {
    {{"delay", "a duration, or `trace:FILE`",
      R"(The delay of every frame after the queue. `trace:FILE` reads the delays from a text file:
      either one duration per line (`20ms`), one line for each frame, and the file starts again
      after its end; or `TIME DELAY` in every line, with times ascending from 0 (the start of the
      path), where each delay applies from its time on; `TIME repeat` as the last line starts the
      file again.)",
      "20ms"},
     kDelay},
    {{"jitter", "a duration[`:corr=P`]",
      R"(The deviation from `delay`: with `dist=uniform` the maximum, with `dist=normal` the
      standard deviation, with other distributions the unit of their table. A delay is never below
      zero. The jitter may exceed `delay` only with `order=free`. `corr`: the correlation of each
      frame's delay with the delay of the previous frame (a Gaussian process; the distribution
      stays the same).)",
      "2ms:corr=25%"},
     Value<ParseJitter, FormatJitter, &Spec::delay, &DelaySpec::jitter>()},
    {{"dist", "uniform, normal, pareto, paretonormal, or a file",
      R"(The distribution of the jitter; default uniform. A file (with a `/` or `.` in its name) is
      a table in netem's format, such as the tables that iproute2 installs.)",
      "normal"},
     Value<ParseDistribution, FormatDistribution, &Spec::delay, &DelaySpec::distribution>()},
    {{"order", "keep or free",
      R"(Whether a frame with a shorter delay may overtake the previous frame (`free`, the default)
      or is delivered together with it (`keep`). If the jitter may exceed the delay, `order=free`
      must be specified.)",
      "keep"},
     Value<ParseOrder, FormatOrder, &Spec::delay, &DelaySpec::order>()},
    {{"loss",
      R"(P[`:corr=P,run=N`], `gemodel:p=P,r=P,1-h=P,1-k=P`, `state:p13=P,p31=P,p32=P,p23=P,p14=P`,
      `fading:good=T,bad=T,1-h=P,1-k=P,joint`, `periodic:every=N,burst=N,first=N`,
      `cycle:pass=N|T,lose=N|T,times=N,first=N|T`, `list:N,N-N,...`, `trace:FILE`; several joined by `+`)",
      R"(Loses frames. P: independently, or with a correlation between consecutive frames (`corr`),
      and at most `run` consecutive frames (the frame after `run` losses passes, so the share of
      lost frames is less than P: see [below](#a-limit-on-consecutive-losses)). `gemodel`: the
      Gilbert-Elliott model (default r=1-p, 1-h=100%, 1-k=0). `state`: the 4-state Markov model
      (default p31=1-p13, p32=0, p23=100%, p14=0). `fading`: two states over time, whose durations
      are exponentially distributed with the means `good` and `bad` (default 1-h=100%, 1-k=0;
      `joint`: in the same states at the same time as every other direction and class of the pair
      whose SPEC contains `joint` with the same times). `periodic`: of every N frames (`every`),
      `burst` frames (default 1) are lost, for the first time at frame `first` (default N). `cycle`:
      `pass` frames, or all frames during this time, pass, then `lose` frames, or all frames during
      this time, are lost; the cycle runs `times` times (default: without end), and `first` (a
      number of frames or a time, default `pass`) is what passes before the first loss. `list`: the
      frames with these numbers, counted from 1, are lost. `trace`: a text file (0 passes, 1 is
      lost; the file starts again after its end). The names of the first parameters may be omitted:
      `gemodel:1%,10%`. With several models, each model sees every frame, and a frame that any model
      loses is lost: `1%+periodic:100`; a trace can only be the last model.)",
      "gemodel:p=1%,r=10%"},
     Value<ParseLoss, FormatLoss, &Spec::loss>()},
    {{"dup", "P[`:corr=P`]", "The probability that a frame is sent twice.", "0.1%"},
     Value<ParseChance, FormatChance, &Spec::duplication>()},
    {{"reorder", "P[`:gap=N,corr=P`]",
      R"(The probability that a frame is reordered: the frame is not delayed, so it overtakes
      delayed frames. `gap`: only every N-th frame can be reordered. Requires `delay`.)",
      "25%:gap=5"},
     Value<ParseReorder, FormatReorder, &Spec::reorder>()},
    {{"ber", "P[`:header`]",
      R"(The bit error rate: each bit of a frame after the Ethernet header is flipped with this
      probability; with `header` also the bits of the header. Checksums are not corrected.)",
      "1e-9"},
     Value<ParseErrors, FormatErrors, &Spec::errors>()},
    {{"corrupt", "P[`:corr=P,header,checksum=fix`]",
      R"(The probability that one bit of a frame, after the Ethernet header, is flipped,
      independently of the frame's length (as in netem); with `header` also a bit of the header.
      `checksum=fix`: flips a bit of the payload of UDP or TCP and corrects the checksum, so the
      receiving program gets the damaged payload; frames without such a payload (fragments, other
      protocols, a bare ACK) are not changed. `checksum=fix` cannot be combined with `fcs=drop`.)",
      "0.1%"},
     Value<ParseCorruption, FormatCorruption, &Spec::corruption>()},
    {{"nat", "port[`:rebind=T,first=T,id=N`]",
      R"(The sending end of this direction is behind a NAT: the source ports of UDP and TCP packets
      are replaced by other ports, chosen at random from the seed (addresses are not changed). Every
      host may send to these ports: in the other direction the original port is restored, and a
      packet to a port without a binding is lost (`no-binding`). `rebind`: the ports are replaced
      every T (the first time after `first`), so packets that are still sent to the old ports are
      lost. A live change of this key (of `id`, if nothing else changes) replaces the ports at the
      time of the change. Only one direction of a pair can have NAT, and its classes cannot; the
      filters of classes see the ports before translation. Multicast and broadcast frames, all
      fragments except the first, and other protocols pass unchanged; a first fragment that ends
      before its checksum is lost; ICMP errors are translated. ([An
      example](path.md#a-nat-that-rebinds)))",
      "port:rebind=5s"},
     Value<ParseNat, FormatNat, &Spec::nat>()},
    {{"fcs", "ignore or drop",
      R"(Whether a frame with flipped bits is delivered (`ignore`, the default) or dropped at the
      far end (`drop`), as by a receiver that checks the FCS. A dropped frame is counted as
      `bad-fcs`.)",
      "drop"},
     Value<ParseFrameCheck, FormatFrameCheck, &Spec::frame_check>()},
    {{"slot", "a duration[`:max=T,jitter=T,dist=NAME,packets=N,bytes=N`]",
      R"(Holds frames back and delivers the accumulated frames together, like links that aggregate
      frames (and netem's `slot`): a frame that arrives while no slot is pending opens a slot after
      this time; with `max`, after a time between this time and `max` (uniformly distributed); with
      `jitter`, after a time with this mean and a deviation distributed as `dist` specifies. A slot
      that has delivered `packets` frames or `bytes` bytes opens the next slot.)",
      "5ms:max=8ms,packets=16"},
     Value<ParseSlot, FormatSlot, &Spec::slot>()},
    {{"rate", "a rate, `mahimahi:FILE` or `trace:FILE`",
      R"(The rate of the link in bits per second. Files: Mahimahi's packet-delivery trace (each
      line is a time in milliseconds at which 1500 bytes may be sent), or `TIME RATE` in every
      line, with times ascending from 0; `TIME repeat` as the last line starts the file again.)",
      "10Mbit"},
     kRate},
    {{"link", "a name",
      R"(Shares the link: the frames of all directions (of this pair, of other pairs, of classes)
      whose SPECs set the same name wait in one queue and compete for one rate. One of these SPECs
      sets `rate`, `queue` and so on; the others set only `link`, or repeat the same values. Delay
      and loss remain separate for each direction. `link` cannot be changed while the path runs.)",
      "air"},
     Value<ParseName, FormatName, &Spec::link, &LinkSpec::shared>()},
    {{"overhead", "bytes[`:mpu=BYTES,atm,ptm`], or a keyword",
      R"(Bytes added to each frame (with its Ethernet header) for its transmission time: 24 for
      Ethernet's preamble, FCS and gap; -14 to count IP packets. `mpu`: the minimum size after the
      addition; `atm`: this size is sent in cells of 53 bytes that carry 48 bytes; `ptm`: 65 bytes
      are sent for every 64 bytes. The keywords and their sizes are those of CAKE (tc-cake(8)):
      ethernet, docsis, pppoe-ptm, bridged-ptm, pppoa-vcmux, pppoa-llc, pppoe-vcmux, pppoe-llcsnap,
      bridged-vcmux, bridged-llcsnap, ipoa-vcmux, ipoa-llcsnap, conservative.)",
      "24B"},
     Value<ParseOverhead, FormatOverhead, &Spec::link, &LinkSpec::overhead>()},
    {{"burst", "bytes",
      R"(The depth of a token bucket: after the link was idle, up to this number of bytes are sent
      immediately, without waiting for the rate. Default: no token bucket, so every frame takes its
      transmission time.)",
      "15kB"},
     Value<ParseBytesBetween<64, int64_t{1} << 40>, FormatBytes, &Spec::link, &LinkSpec::burst>()},
    {{"queue", "packets (`100p`), bytes (`64kB`) or time (`20ms`)",
      R"(The limit of the queue for the link. Default `100p`; with codel and pie `1000p`, with
      fq_codel and fq_pie `10240p`, with dualpi2 `10000p`.)",
      "100p"},
     Value<ParseQueueSize, FormatQueueSize, &Spec::queue, &QueueSpec::limit>()},
    {{"drop", "tail or head",
      "The frame that a full queue drops: the arriving frame (default) or the oldest frame.",
      "head"},
     Value<ParseDrop, FormatDrop, &Spec::queue, &QueueSpec::drop>()},
    {{"aqm",
      R"(codel[`:target=T,interval=T,ecn`], pie[`:target=T,update=T,burst=T,alpha=X,beta=X,ecn`],
      red[`:min=Q,max=Q,prob=P,weight=P,gentle,ecn`],
      fq_codel[`:flows=N,quantum=N,target=T,interval=T,noecn`],
      fq_pie[`:flows=N,quantum=N,target=T,update=T,burst=T,alpha=X,beta=X,ecn`],
      dualpi2[`:target=T,update=T,alpha=X,beta=X,coupling=X,step=T,range=T,classic=P`])",
      R"(Active queue management: CoDel (RFC 8289), PIE (RFC 8033), RED (Floyd and Jacobson 1993),
      FQ-CoDel (RFC 8290), FQ-PIE, DualPI2 (RFC 9332). The defaults are those of the RFCs, for
      FQ-PIE and DualPI2 those of Linux. `ecn`: packets that support ECN are marked (CE), not
      dropped. DualPI2 marks L4S packets (ECT(1) or CE) whose queueing delay exceeds `step`, with a
      probability that grows to 1 at the delay `step` + `range`; `classic` is the share of the rate
      that the other packets get while both queues contain packets.)",
      "codel:target=5ms,ecn"},
     Value<ParseAqm, FormatAqm, &Spec::queue, &QueueSpec::aqm>()},
};

[[noreturn]] void Fail(std::string_view key, std::string_view why) {
  throw UsageError(fmt::format("SPEC: {}: {}", key, why));
}

const Key& FindKey(std::string_view name) {
  std::vector<std::string> known;
  for (const Key& key : kKeys) {
    if (key.text.name == name) return key;
    known.emplace_back(key.text.name);
  }
  const std::string hint = DidYouMean(name, known);
  throw UsageError(fmt::format("SPEC: unknown key \"{}\"{} known keys: {}", name,
                               hint.empty() ? ";" : hint, fmt::join(known, ", ")));
}

// Calls `use(key, value)` for every word of the text.
template <class Use>
void ForEachWord(std::string_view text, Use use) {
  std::array<bool, std::size(kKeys)> given{};
  size_t at = text.find_first_not_of(kWhiteSpace);
  while (at != std::string_view::npos) {
    const size_t end = std::min(text.find_first_of(kWhiteSpace, at), text.size());
    const std::string_view word = text.substr(at, end - at);
    const size_t equals = word.find('=');
    if (equals == std::string_view::npos) {
      throw UsageError(fmt::format("SPEC: \"{}\" is not KEY=VALUE, as in delay=20ms", word));
    }
    const Key& key = FindKey(word.substr(0, equals));
    bool& before = given[static_cast<size_t>(&key - kKeys)];
    if (before) Fail(key.text.name, "specified twice; specify the key only once");
    before = true;
    use(key, word.substr(equals + 1));
    at = text.find_first_not_of(kWhiteSpace, end);
  }
}

// Runs `use` and adds the key to the UsageError that `use` throws, if any.
template <class Use>
void Located(std::string_view key, Use use) {
  try {
    use();
  } catch (const UsageError& error) {
    Fail(key, error.what());
  }
}

void ParseValue(Spec& spec, const Key& key, std::string_view value) {
  Located(key.text.name, [&] { key.access.parse(spec, value); });
}

void CheckDelay(const DelaySpec& delay) {
  if (delay.distribution && !delay.jitter) {
    Fail("dist", "has an effect only together with jitter; specify jitter, too");
  }
  if (!delay.jitter) return;
  if (delay.jitter->correlation >= 1) {
    Fail("jitter", "corr: 100% would repeat the first delay forever; specify a smaller value");
  }
  const Duration base = delay.base.value_or(Duration()), jitter = delay.jitter->amount;
  if (delay.order != Order::kFree && !delay.trace && jitter > base) {
    Fail("jitter", fmt::format("{} is larger than delay={}; specify a larger delay, or allow "
                               "frames to overtake with order=free",
                               FormatDuration(jitter), FormatDuration(base)));
  }
}

void CheckReorder(const Spec& spec) {
  if (!spec.reorder) return;
  if (!spec.delay.HasDelay()) {
    Fail("reorder",
         "needs delay (a reordered frame is a frame that is not delayed); specify delay, too");
  }
  if (spec.delay.order == Order::kKeep)
    Fail("reorder", "contradicts order=keep; remove one of the two");
  Located("reorder", [&] { spec.reorder->chance.Check(); });
}

void CheckCorruption(const Spec& spec) {
  if (!spec.corruption) return;
  Located("corrupt", [&] { spec.corruption->Check(); });
  if (spec.corruption->checksum == DamagedChecksum::kFix && spec.frame_check == FrameCheck::kDrop) {
    Fail("fcs",
         "drops every damaged frame, so checksum=fix of corrupt has no effect; remove one of "
         "the two");
  }
}

// Checks that keys that need a rate are not given without a rate.
void CheckRate(const Spec& spec) {
  if (spec.link.HasRate()) return;
  constexpr std::string_view kWhy = "has an effect only together with rate; specify rate, too";
  if (spec.link.overhead) Fail("overhead", kWhy);
  if (spec.link.burst) Fail("burst", kWhy);
  if (spec.queue.limit) Fail("queue", kWhy);
  if (spec.queue.drop) Fail("drop", kWhy);
  if (spec.queue.aqm) Fail("aqm", kWhy);
}

void CheckQueue(const Spec& spec) {
  const auto& [limit, drop, aqm] = spec.queue;
  if (spec.link.trace && spec.link.burst) {
    Fail("burst", "has an effect only together with a constant rate; remove burst");
  }
  if (aqm && drop == DropAt::kHead) {
    Fail("drop", fmt::format("cannot be combined with aqm={}, which chooses the frames to drop; "
                             "remove one of the two",
                             aqm->name));
  }
  if (aqm && limit && limit->unit == QueueSize::Unit::kTime) {
    Fail("queue",
         "with an aqm, the limit must be in packets or bytes, such as \"100p\" or \"64kB\"");
  }
}

// Removes the key, and the keys that have a meaning only together with it.
void Remove(Spec& spec, std::string_view name) {
  FindKey(name).access.clear(spec);
  struct Dependent {
    std::string_view key, on;
  };
  constexpr Dependent kDependents[] = {
      {"overhead", "rate"}, {"burst", "rate"},  {"queue", "rate"},
      {"drop", "rate"},     {"aqm", "rate"},    {"reorder", "delay"},
      {"jitter", "delay"},  {"dist", "jitter"}, {"order", "delay"}};
  for (const Dependent& dependent : kDependents) {
    if (dependent.on == name) Remove(spec, dependent.key);
  }
}

}  // namespace

void CheckSpec(const Spec& spec) {
  CheckDelay(spec.delay);
  CheckReorder(spec);
  CheckRate(spec);
  CheckQueue(spec);
  if (spec.loss) Located("loss", [&] { CheckLoss(*spec.loss); });
  CheckCorruption(spec);
  if (spec.nat) Located("nat", [&] { spec.nat->Check(); });
  if (spec.duplication) Located("dup", [&] { spec.duplication->Check(); });
  if (spec.slot) Located("slot", [&] { spec.slot->Check(); });
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
    if (value == "none") Remove(spec, key.text.name);
  });
  ForEachWord(text, [&spec](const Key& key, std::string_view value) {
    if (value == "none") return;
    key.access.clear(spec);
    ParseValue(spec, key, value);
  });
  CheckSpec(spec);
  return spec;
}

std::string FormatSpec(const Spec& spec) {
  std::string text;
  for (const Key& key : kKeys) {
    const std::string value = key.access.format(spec);
    if (value.empty()) continue;
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", key.text.name, value);
  }
  return text;
}

std::string FirstBeyondBasics(const Spec& spec) {
  Spec basics;
  const auto* random = spec.loss ? std::get_if<RandomLoss>(&spec.loss->front()) : nullptr;
  if (random) basics.loss = LossSpec{RandomLoss{Chance{random->chance.probability}}};
  if (spec.errors) basics.errors = BitErrorSpec{spec.errors->rate};
  if (spec.duplication) basics.duplication = Chance{spec.duplication->probability};
  basics.link.rate = spec.link.rate;
  basics.queue.limit = spec.queue.limit;
  if (spec.queue.aqm) basics.queue.aqm = Aqm(spec.queue.aqm->name);
  basics.delay.base = spec.delay.base;
  if (spec.delay.jitter) basics.delay.jitter = Jitter{spec.delay.jitter->amount};
  if (!IsDistributionFile(spec.delay.distribution.value_or(""))) {
    basics.delay.distribution = spec.delay.distribution;
  }
  if (spec.reorder) basics.reorder = Reorder{Chance{spec.reorder->chance.probability}};
  for (const Key& key : kKeys) {
    const std::string value = key.access.format(spec);
    if (value != key.access.format(basics)) return fmt::format("{}={}", key.text.name, value);
  }
  return "";
}

std::vector<SpecKey> SpecKeys() {
  std::vector<SpecKey> keys;
  for (const Key& key : kKeys) keys.push_back(key.text);
  return keys;
}

}  // namespace viaduct::path
