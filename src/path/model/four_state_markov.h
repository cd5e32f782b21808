// Loss as a 4-state Markov chain (Salsano, Ludovici, Ordine 2009; ITU-T G.1050).
#pragma once

#include <array>

#include "base/random.h"
#include "path/grammar/parameters.h"
#include "path/packet/packet.h"

namespace viaduct::path {

// The states: 1 received in a gap, 2 received in a burst, 3 lost in a burst, 4 isolated loss. State
// 4 is always followed by state 1.
struct FourStateMarkov {
  static constexpr std::string_view kName = "state", kExample = "p13=1%,p31=90%";
  double p13 = 0, p31 = 1, p32 = 0, p23 = 1, p14 = 0;  // default of p31: 1 - p13
  int state = 1;
  friend bool operator==(const FourStateMarkov&, const FourStateMarkov&) = default;

  static constexpr auto Table() {
    return std::array{ProbabilityParameter<&FourStateMarkov::p13>("p13"),
                      ProbabilityParameter<&FourStateMarkov::p31>("p31"),
                      ProbabilityParameter<&FourStateMarkov::p32>("p32"),
                      ProbabilityParameter<&FourStateMarkov::p23>("p23"),
                      ProbabilityParameter<&FourStateMarkov::p14>("p14")};
  }
  void Complete(const std::vector<bool>& given) {
    if (!given[1]) p31 = 1 - p13;
  }
  void Check() const {
    if (p13 + p14 > 1) throw UsageError("state: p13 and p14 add up to more than 100%");
    if (p31 + p32 > 1) throw UsageError("state: p31 and p32 add up to more than 100%");
  }

  // For each packet the state changes first; the packet is lost in states 3 and 4.
  bool Lose(const Packet&, RandomStream& random) {
    state = Next(random.Uniform());
    return state >= 3;
  }
  int Next(double drawn) const {
    switch (state) {
      case 1:
        return drawn < p14 ? 4 : drawn < p14 + p13 ? 3 : 1;
      case 2:
        return drawn < p23 ? 3 : 2;
      case 3:
        return drawn < p32 ? 2 : drawn < p32 + p31 ? 1 : 3;
      default:
        return 1;
    }
  }
};

}  // namespace viaduct::path
