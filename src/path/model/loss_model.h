// Decides which packets a path loses. Each model is a small state machine that is called once per
// packet, in order, with the caller's random stream.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/random.h"
#include "path/model/loss.h"
#include "path/packet/pipeline_options.h"

namespace viaduct::path {

// The state of a Chance; duplication and reordering use it too.
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
  // `read_file` reads a LossTrace's file; throws UsageError if that is invalid.
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
  // Starts in the good state. Each packet is lost with the present state's probability, then the
  // state may change.
  struct TwoStates {
    GilbertElliott model;
    bool bad = false;
    bool Lose(uint64_t number, RandomStream& random);
  };
  // Starts in state 1. For each packet the state changes first; the packet is lost in states 3 and
  // 4.
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
