#include "path/model/random_loss.h"

#include "path/grammar/parameters.h"

namespace viaduct::path {
namespace {

constexpr Parameter<RandomLoss> kRandomLoss[] = {
    ProbabilityParameter<&RandomLoss::chance, &Chance::correlation>("corr"),
    IntegerParameter<1, kMaxPackets, &RandomLoss::run>("run")};

}  // namespace

RandomLoss ParseRandomLoss(std::string_view value) {
  const auto [head, parameters] = SplitHead(value);
  RandomLoss loss{Chance{ParseProbability(head)}};
  ParseParameters(loss, parameters, kRandomLoss);
  loss.Check();
  return loss;
}

std::string FormatRandomLoss(const RandomLoss& loss) {
  return JoinHead(FormatProbability(loss.chance.probability), FormatChanged(loss, kRandomLoss));
}

}  // namespace viaduct::path
