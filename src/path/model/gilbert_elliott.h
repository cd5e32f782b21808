// Loss in two states, good and bad (Gilbert 1960, Elliott 1963), with netem's names and defaults.
#pragma once

#include <array>

#include "base/random.h"
#include "path/grammar/parameters.h"
#include "path/packet/packet.h"

namespace viaduct::path {

struct GilbertElliott {
  static constexpr std::string_view kName = "gemodel", kExample = "p=1%,r=10%";
  double p = 0;          // probability of a change from good to bad
  double r = 1;          // probability of a change from bad to good; default: 1 - p
  double bad_loss = 1;   // 1-h: loss in the bad state
  double good_loss = 0;  // 1-k: loss in the good state
  bool bad = false;      // state: whether the current state is bad
  friend bool operator==(const GilbertElliott&, const GilbertElliott&) = default;

  static constexpr auto Table() {
    return std::array{ProbabilityParameter<&GilbertElliott::p>("p"),
                      ProbabilityParameter<&GilbertElliott::r>("r"),
                      ProbabilityParameter<&GilbertElliott::bad_loss>("1-h"),
                      ProbabilityParameter<&GilbertElliott::good_loss>("1-k")};
  }
  void Complete(const std::vector<bool>& given) {
    if (!given[1]) r = 1 - p;
  }
  void Check() const {}

  // Each packet is lost with the probability of the current state, then the state may change.
  bool Lose(const Packet&, RandomStream& random) {
    const bool lost = random.Chance(bad ? bad_loss : good_loss);
    if (random.Chance(bad ? r : p)) bad = !bad;
    return lost;
  }
};

}  // namespace viaduct::path
