#include "path/model/loss_model.h"

#include "path/trace/trace.h"

namespace viaduct::path {

LossModel::Model LossModel::Make(const Loss& loss, const FileReader& read_file) {
  struct Maker {
    const FileReader& read_file;
    Model operator()(const Chance& chance) { return Random{Decision(chance)}; }
    Model operator()(const GilbertElliott& model) { return TwoStates{model}; }
    Model operator()(const FourStateMarkov& model) { return FourStates{model}; }
    Model operator()(const PeriodicLoss& model) { return Periodic{model}; }
    Model operator()(const LossList& list) { return Listed{list.ranges}; }
    Model operator()(const LossTrace& trace) {
      return Traced{ParseLossTrace(read_file(trace.file), trace.file)};
    }
  };
  return std::visit(Maker{read_file}, loss);
}

bool LossModel::TwoStates::Lose(uint64_t, RandomStream& random) {
  const bool lost = random.Chance(bad ? model.bad_loss : model.good_loss);
  if (random.Chance(bad ? model.r : model.p)) bad = !bad;
  return lost;
}

bool LossModel::FourStates::Lose(uint64_t, RandomStream& random) {
  const double drawn = random.Uniform();
  switch (state) {
    case 1:
      state = drawn < model.p14 ? 4 : drawn < model.p14 + model.p13 ? 3 : 1;
      break;
    case 2:
      state = drawn < model.p23 ? 3 : 2;
      break;
    case 3:
      state = drawn < model.p32 ? 2 : drawn < model.p32 + model.p31 ? 1 : 3;
      break;
    default:
      state = 1;
  }
  return state >= 3;
}

bool LossModel::Listed::Lose(uint64_t number, RandomStream&) {
  while (at < ranges.size() && ranges[at].last < number) ++at;
  return at < ranges.size() && ranges[at].first <= number;
}

bool LossModel::Traced::Lose(uint64_t, RandomStream&) {
  const bool lost = trace[at];
  at = at + 1 == trace.size() ? 0 : at + 1;
  return lost;
}

}  // namespace viaduct::path
