// Loss in two states over time: like gilbert_elliott.h, but the states have random durations that
// do not depend on packets, so that both directions of a pair can have the same states (a fading
// radio link, a failing cable).
#pragma once

#include <array>
#include <cmath>

#include "base/random.h"
#include "path/grammar/parameters.h"
#include "path/packet/packet.h"
#include "path/packet/pipeline_options.h"

namespace viaduct::path {

// Exponentially distributed durations of the good and the bad state, beginning with the good state
// at the path's start. `joint`: all directions and classes of the pair with the same durations have
// the same states: each direction and class computes the states from the seed, so they exchange no
// data.
struct FadingLoss {
  static constexpr std::string_view kName = "fading", kExample = "good=10s,bad=200ms";
  Duration good, bad;    // mean durations of the states
  double bad_loss = 1;   // 1-h: loss in the bad state
  double good_loss = 0;  // 1-k: loss in the good state
  bool joint = false;
  uint64_t seed = 0;                 // state: seed of the durations
  uint64_t states = 0;               // state: number of states that have ended; odd: bad now
  Instant start = Instant::Never();  // state: start of the path
  Instant end = Instant::Never();    // state: end of the current state
  friend bool operator==(const FadingLoss&, const FadingLoss&) = default;

  static constexpr auto Table() {
    using F = FadingLoss;
    return std::array{TimeParameter<&F::good>("good"), TimeParameter<&F::bad>("bad"),
                      ProbabilityParameter<&F::bad_loss>("1-h"),
                      ProbabilityParameter<&F::good_loss>("1-k"),
                      FlagParameter<&F::joint>("joint")};
  }
  void Complete(const std::vector<bool>&) {}
  void Check() const {
    if (good > Duration() && bad > Duration()) return;
    throw UsageError(
        "fading needs the parameters good and bad, the mean times in these states, as in " +
        std::string(kName) + ":" + std::string(kExample));
  }

  void Open(const PipelineOptions& options) {
    seed = RandomStream(options.seed, (joint ? options.pair : options.name) + " fading").Next();
  }
  void Begin(Instant path_start, Instant) { start = path_start; }
  bool Lose(const Packet& packet, RandomStream& random) {
    if (end == Instant::Never()) {
      start = std::min(start, packet.arrived);
      end = start + NextTime();
    }
    while (end <= packet.arrived) {
      ++states;
      end += NextTime();
    }
    return random.Chance(states % 2 == 1 ? bad_loss : good_loss);
  }

 private:
  // Returns the duration of the current state.
  Duration NextTime() const {
    const Duration mean = states % 2 == 1 ? bad : good;
    const double drawn = -std::log1p(-RandomStream(seed + states, kName).Uniform());
    const double time = drawn * static_cast<double>(mean.nanoseconds());
    return Duration::Nanoseconds(static_cast<int64_t>(std::min(time, 1e17)));
  }
};

}  // namespace viaduct::path
