#include "path/model/chance.h"

#include "path/grammar/parameters.h"

namespace viaduct::path {
namespace {

constexpr Parameter<Chance> kChance[] = {ProbabilityParameter<&Chance::correlation>("corr")};

}  // namespace

Chance ParseChance(std::string_view value) {
  const auto [head, parameters] = SplitHead(value);
  Chance chance{ParseProbability(head)};
  ParseParameters(chance, parameters, kChance);
  chance.Check();
  return chance;
}

std::string FormatChance(const Chance& chance) {
  return JoinHead(FormatProbability(chance.probability), FormatChanged(chance, kChance));
}

void Chance::Check() const {
  if (correlation < 1) return;
  throw UsageError("corr: 100% would repeat the first decision forever; specify a smaller value");
}

}  // namespace viaduct::path
