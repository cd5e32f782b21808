// The link SPEC: one string and one grammar everywhere (command line, scenario files, C++, live
// change).
//
//   delay=20ms jitter=2ms dist=normal loss=1% dup=0.1% reorder=0.5% ber=1e-9 rate=10Mbit queue=100p
//
// Keys in any order, each at most once, separated by white space; a value holds none. The empty
// string is a plain wire. Every key with its values: docs/path-spec.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/time.h"

namespace viaduct::path {

struct Queue {
  enum class Unit { kPackets, kBytes, kTime };
  Unit unit = Unit::kPackets;
  int64_t amount = 0;  // packets, bytes or nanoseconds
  friend bool operator==(const Queue&, const Queue&) = default;
};

// A decision per packet: yes with `probability`. With probability `correlation` it is the decision
// before once more, else drawn anew; so the share of yes stays `probability`, and decisions n
// packets apart have the autocorrelation correlation^n. (netem mixes random numbers instead, which
// changes the share: docs/limitations.md.)
struct Chance {
  double probability = 0;
  double correlation = 0;
  friend bool operator==(const Chance&, const Chance&) = default;
};

// Two states, good and bad (Gilbert 1960, Elliott 1963), in netem's names and defaults.
struct GilbertElliott {
  double p = 0;          // good to bad
  double r = 0;          // bad to good
  double bad_loss = 1;   // 1-h: loss in the bad state
  double good_loss = 0;  // 1-k: loss in the good state
  friend bool operator==(const GilbertElliott&, const GilbertElliott&) = default;
};

// The 4-state Markov model (Salsano, Ludovici, Ordine 2009; ITU-T G.1050): 1 received in a gap,
// 2 received in a burst, 3 lost in a burst, 4 lost alone. From 4 always to 1.
struct FourStateMarkov {
  double p13 = 0, p31 = 0, p32 = 0, p23 = 1, p14 = 0;
  friend bool operator==(const FourStateMarkov&, const FourStateMarkov&) = default;
};

// Loses packets first, first + every, first + 2 every...; `burst` packets each time.
struct PeriodicLoss {
  uint64_t every = 1, burst = 1, first = 1;
  friend bool operator==(const PeriodicLoss&, const PeriodicLoss&) = default;
};

// Loses the packets of these numbers (the first one is 1). Ascending, disjoint.
struct LossList {
  struct Range {
    uint64_t first = 0, last = 0;
    friend bool operator==(const Range&, const Range&) = default;
  };
  std::vector<Range> ranges;
  friend bool operator==(const LossList&, const LossList&) = default;
};

// A file that says of each packet whether it is lost (path/trace.h).
struct LossTrace {
  std::string file;
  friend bool operator==(const LossTrace&, const LossTrace&) = default;
};

using Loss =
    std::variant<Chance, GilbertElliott, FourStateMarkov, PeriodicLoss, LossList, LossTrace>;

// Takes a packet out of turn: it is not delayed. At least `gap` - 1 packets lie between two.
struct Reorder {
  Chance chance;
  int64_t gap = 1;
  friend bool operator==(const Reorder&, const Reorder&) = default;
};

// A rate that changes: a file.
struct RateTrace {
  enum class Format { kMahimahi, kRateOverTime };  // path/trace.h
  Format format = Format::kMahimahi;
  std::string file;
  friend bool operator==(const RateTrace&, const RateTrace&) = default;
};

enum class Order { kKeep, kFree };
enum class DropAt { kTail, kHead };

// Active queue management. Absent members have their RFC's default, named at the discipline.
struct Aqm {
  Aqm() = default;
  explicit Aqm(std::string_view name) : name(name) {}
  std::string name;                          // codel, pie, red, fq_codel
  std::optional<Duration> target, interval;  // codel, fq_codel; pie: target
  std::optional<Duration> update, burst;     // pie: T_UPDATE, MAX_BURST
  std::optional<double> alpha, beta;         // pie
  std::optional<Queue> low, high;            // red: min_th, max_th (packets or bytes)
  std::optional<double> max_probability;     // red: max_p
  std::optional<double> weight;              // red: w_q
  std::optional<bool> gentle;                // red
  std::optional<int64_t> flows, quantum;     // fq_codel: queues; bytes
  std::optional<bool> ecn;                   // mark instead of drop where the packet allows it
  friend bool operator==(const Aqm&, const Aqm&) = default;
};

// What a link does to the frames of one direction. Absent members do nothing.
struct Spec {
  std::optional<Duration> delay;
  std::optional<std::string> delay_trace;  // instead of delay: a file
  std::optional<Duration> jitter;
  double jitter_correlation = 0;
  std::optional<std::string> distribution;  // uniform, normal, pareto, paretonormal, or a file
  std::optional<Order> order;               // kFree: jitter and shorter delays let packets overtake
  std::optional<Loss> loss;
  std::optional<Chance> duplicate;
  std::optional<Reorder> reorder;
  std::optional<double> bit_error_rate;
  bool header_bit_errors = false;  // may hit the Ethernet header too
  std::optional<int64_t> rate;     // bit/s
  std::optional<RateTrace> rate_trace;
  std::optional<int64_t> overhead;  // bytes added to each frame for its time on the link
  std::optional<int64_t> burst;     // bytes: depth of the token bucket
  std::optional<Queue> queue;
  std::optional<DropAt> drop;
  std::optional<Aqm> aqm;

  bool HasRate() const { return rate || rate_trace; }
  bool IsPlainWire() const { return *this == Spec(); }
  friend bool operator==(const Spec&, const Spec&) = default;
};

// Throws UsageError naming the key, what is wrong with it and what is accepted.
Spec ParseSpec(std::string_view text);
// `base` with the keys that `text` gives replaced; "KEY=none" takes a key away. For live changes
// and schedules.
Spec ChangeSpec(const Spec& base, std::string_view text);
// The inverse: ParseSpec(FormatSpec(s)) == s.
std::string FormatSpec(const Spec& spec);
// What ParseSpec checks of keys together (dist without jitter, jitter above delay...), for a Spec
// made in C++. Throws UsageError.
void CheckSpec(const Spec& spec);

// The first word of the SPEC that says more than the keys of the simplest tools do, which is: a
// plain duration as delay and jitter, a named distribution, independent loss, duplication and
// reordering, bit errors behind the header, a constant rate, a queue, an aqm without parameters.
// Empty if there is none. For those who hand a SPEC to something else than the path emulator.
std::string FirstBeyondBasics(const Spec& spec);

// A file, not one of the named distributions.
bool IsDistributionFile(std::string_view distribution);

// One row of the SPEC's reference (docs/path-spec.md).
struct SpecKey {
  std::string_view name, values, meaning, example;
};
std::vector<SpecKey> SpecKeys();
// docs/path-spec.md.
std::string DocumentSpec();

}  // namespace viaduct::path
