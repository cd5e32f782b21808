// The loss models of a SPEC (key `loss`), and the decision which packets a path loses.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "path/model/cycle_loss.h"
#include "path/model/fading_loss.h"
#include "path/model/four_state_markov.h"
#include "path/model/gilbert_elliott.h"
#include "path/model/loss_list.h"
#include "path/model/loss_trace.h"
#include "path/model/periodic_loss.h"
#include "path/model/random_loss.h"

namespace viaduct::path {

// The variant of all loss models. A model is a struct of its parameters and of the state of its
// state machine, which a SPEC holds as it is before the first packet. A model has:
// - kName, as in "NAME:PARAMETERS" (a RandomLoss has no name: it begins with a probability);
// - either Table(), whose first parameter is required as in kExample, and Complete(given), which
//   sets the parameters whose default depends on others; or Parse(PARAMETERS); Format(), if not all
//   parameters of the table must be printed;
// - Check(), which throws UsageError if the parameters contradict each other;
// - Lose(packet, random), called once per packet, in order, with the caller's random stream;
// - Open(options), if Lose() needs a file or the pipeline's name;
// - Begin(start, now), if the model depends on time: called with the path's start and the instant
//   from which the model is part of the path (the path's start, or the instant of a live change),
//   if these are known.
using Loss = std::variant<RandomLoss, GilbertElliott, FourStateMarkov, FadingLoss, PeriodicLoss,
                          CycleLoss, LossList, LossTrace>;

// The models of a SPEC, at least one. Each model sees every packet; a packet that any model loses
// is lost.
using LossSpec = std::vector<Loss>;

// Parses "MODEL+MODEL...": each model is a probability, or "NAME:PARAMETERS" whose first parameters
// may be given without their names. A trace can only be the last model: its file's name may contain
// '+'. Throws UsageError if the value is not valid.
LossSpec ParseLoss(std::string_view value);
std::string FormatLoss(const LossSpec& loss);
void CheckLoss(const LossSpec& loss);

// Decides which packets are lost.
class LossModel {
 public:
  // `options` name the pipeline and read a LossTrace's file; the constructor throws UsageError if
  // the file is invalid.
  LossModel(LossSpec loss, const PipelineOptions& options);
  void Begin(Instant start, Instant now);
  bool Lose(const Packet& packet, RandomStream& random) {
    bool lost = false;
    for (Loss& each : models_) {
      lost |= std::visit([&](auto& model) { return model.Lose(packet, random); }, each);
    }
    return lost;
  }

 private:
  LossSpec models_;
};

}  // namespace viaduct::path
