// The random decision per packet that loss, duplication and reordering use.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/random.h"

namespace viaduct::path {

// A random decision per packet: yes with `probability`. With probability `correlation` the previous
// decision is repeated, otherwise the decision is drawn anew; so the share of yes stays
// `probability`, and decisions n packets apart have the autocorrelation correlation^n. (netem mixes
// random numbers instead, which changes the share: docs/path.md, Limits.)
struct Chance {
  double probability = 0;
  double correlation = 0;
  bool drawn = false, last = false;  // state: whether a decision was made, and the last decision
  friend bool operator==(const Chance&, const Chance&) = default;

  // Throws UsageError if the parameters contradict each other.
  void Check() const;
  bool Take(RandomStream& random) {
    if (correlation > 0 && drawn && random.Chance(correlation)) return last;
    drawn = true;
    return last = random.Chance(probability);
  }
};

// Parses "1%" or "1%:corr=25%". Throws UsageError if the value is not valid.
Chance ParseChance(std::string_view value);
std::string FormatChance(const Chance& chance);

}  // namespace viaduct::path
