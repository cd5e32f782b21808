// Which packets a path loses. Each model is a small state machine that is asked once a packet, in
// order; its random stream is the caller's.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/random.h"
#include "path/model/loss.h"
#include "path/packet/pipeline_options.h"

namespace viaduct::path {

// A Chance being taken: also duplication's and reordering's.
class Decision {
 public:
  explicit Decision(const Chance& chance) : chance_(chance) {}
  bool Take(RandomStream& random) {
    if (chance_.correlation > 0 && drawn_ && random.Chance(chance_.correlation)) return last_;
    drawn_ = true;
    return last_ = random.Chance(chance_.probability);
  }

 private:
  Chance chance_;
  bool drawn_ = false;
  bool last_ = false;
};

class LossModel {
 public:
  // `read_file` reads a LossTrace's file; throws UsageError where that is wrong.
  LossModel(const Loss& loss, const FileReader& read_file) : model_(Make(loss, read_file)) {}
  // Whether the packet of this number (1, 2, 3...) is lost.
  bool Lose(uint64_t number, RandomStream& random) {
    return std::visit([&](auto& model) { return model.Lose(number, random); }, model_);
  }

 private:
  struct Random {
    Decision decision;
    bool Lose(uint64_t, RandomStream& random) { return decision.Take(random); }
  };
  // Starts in the good state. A packet meets its state's loss, then the state may change.
  struct TwoStates {
    GilbertElliott model;
    bool bad = false;
    bool Lose(uint64_t number, RandomStream& random);
  };
  // Starts in state 1; the state moves, and the packet is lost where it arrives in 3 or 4.
  struct FourStates {
    FourStateMarkov model;
    int state = 1;
    bool Lose(uint64_t number, RandomStream& random);
  };
  struct Periodic {
    PeriodicLoss model;
    bool Lose(uint64_t number, RandomStream&) const {
      return number >= model.first && (number - model.first) % model.every < model.burst;
    }
  };
  struct Listed {
    std::vector<LossList::Range> ranges;
    size_t at = 0;  // the first that has not ended
    bool Lose(uint64_t number, RandomStream&);
  };
  struct Traced {
    std::vector<bool> trace;
    size_t at = 0;
    bool Lose(uint64_t, RandomStream&);
  };
  using Model = std::variant<Random, TwoStates, FourStates, Periodic, Listed, Traced>;
  static Model Make(const Loss& loss, const FileReader& read_file);

  Model model_;
};

}  // namespace viaduct::path
