// The loss models of a SPEC (key `loss`), and the decision which packets a path loses.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "path/model/chance.h"
#include "path/model/four_state_markov.h"
#include "path/model/gilbert_elliott.h"
#include "path/model/loss_list.h"
#include "path/model/loss_trace.h"
#include "path/model/periodic_loss.h"

namespace viaduct::path {

// The list of the models. A model is a struct of its parameters and of the state of its state
// machine, which a SPEC holds as it is before the first packet. It has:
// - kName, as in "NAME:PARAMETERS" (a Chance has none: it is a probability alone);
// - either Table(), whose first parameter is required as in kExample, and Complete(given), which
//   sets the parameters whose default depends on others; or Parse(PARAMETERS) and Format();
// - Check(), which throws UsageError if the numbers contradict each other;
// - Lose(number, random), called once per packet, in order, with the caller's random stream;
// - Open(read_file), if it needs a file for that.
using Loss =
    std::variant<Chance, GilbertElliott, FourStateMarkov, PeriodicLoss, LossList, LossTrace>;

// A chance, or "NAME:PARAMETERS" of a model. Throws UsageError.
Loss ParseLoss(std::string_view value);
std::string FormatLoss(const Loss& loss);
void CheckLoss(const Loss& loss);

// Decides which packets are lost.
class LossModel {
 public:
  // `read_file` reads a LossTrace's file; throws UsageError if that is invalid.
  LossModel(const Loss& loss, const FileReader& read_file);
  // Whether the packet of this number (1, 2, 3...) is lost.
  bool Lose(uint64_t number, RandomStream& random) {
    return std::visit([&](auto& model) { return model.Lose(number, random); }, model_);
  }

 private:
  Loss model_;
};

}  // namespace viaduct::path
