// The loss models of a SPEC (key `loss`), and the random decision per packet that duplication and
// reordering use too.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace viaduct::path {

// A decision per packet: yes with `probability`. With probability `correlation` it repeats the
// previous decision, else it is drawn anew; so the share of yes stays `probability`, and decisions
// n packets apart have the autocorrelation correlation^n. (netem mixes random numbers instead,
// which changes the share: docs/limitations.md.)
struct Chance {
  double probability = 0;
  double correlation = 0;
  friend bool operator==(const Chance&, const Chance&) = default;
};

// Two states, good and bad (Gilbert 1960, Elliott 1963), in netem's names and defaults.
struct GilbertElliott {
  double p = 0;          // good to bad
  double r = 1;          // bad to good; 1 - p if the SPEC does not give it
  double bad_loss = 1;   // 1-h: loss in the bad state
  double good_loss = 0;  // 1-k: loss in the good state
  friend bool operator==(const GilbertElliott&, const GilbertElliott&) = default;
};

// The 4-state Markov model (Salsano, Ludovici, Ordine 2009; ITU-T G.1050): 1 received in a gap,
// 2 received in a burst, 3 lost in a burst, 4 isolated loss. State 4 is always followed by 1.
struct FourStateMarkov {
  double p13 = 0, p31 = 1, p32 = 0, p23 = 1, p14 = 0;  // p31 if not given: 1 - p13
  friend bool operator==(const FourStateMarkov&, const FourStateMarkov&) = default;
};

// Loses packets first, first + every, first + 2 every...; `burst` packets each time.
struct PeriodicLoss {
  uint64_t every = 1, burst = 1, first = 1;  // first if not given: every
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

// A file that tells for each packet whether it is lost (path/trace/trace.h).
struct LossTrace {
  std::string file;
  friend bool operator==(const LossTrace&, const LossTrace&) = default;
};

using Loss =
    std::variant<Chance, GilbertElliott, FourStateMarkov, PeriodicLoss, LossList, LossTrace>;

// "1%", "1%:corr=25%". Throws UsageError.
Chance ParseChance(std::string_view value);
std::string FormatChance(const Chance& chance);
void CheckChance(const Chance& chance);

// A chance, or "MODEL:PARAMETERS" of a row of the table in loss.cc. Throws UsageError.
Loss ParseLoss(std::string_view value);
std::string FormatLoss(const Loss& loss);
// Throws UsageError if the numbers contradict each other.
void CheckLoss(const Loss& loss);

}  // namespace viaduct::path
