#include "path/model/corruption.h"

#include "path/grammar/parameters.h"
#include "path/model/bit_errors.h"

namespace viaduct::path {
namespace {

constexpr Parameter<Corruption> kCorruption[] = {
    ProbabilityParameter<&Corruption::chance, &Chance::correlation>("corr"),
    FlagParameter<&Corruption::header>("header")};

}  // namespace

uint64_t Corruption::Flip(std::span<std::byte> frame, RandomStream& random) const {
  const size_t spared = header ? 0 : kSparedHeader;
  if (frame.size() <= spared) return 0;
  const uint64_t bit = random.Below((frame.size() - spared) * 8);
  frame[spared + bit / 8] ^= std::byte{1} << (bit % 8);
  return 1;
}

Corruption ParseCorruption(std::string_view value) {
  const auto [head, parameters] = SplitHead(value);
  Corruption corruption{Chance{ParseProbability(head)}};
  ParseParameters(corruption, parameters, kCorruption);
  return corruption;
}

std::string FormatCorruption(const Corruption& corruption) {
  return JoinHead(FormatProbability(corruption.chance.probability),
                  FormatChanged(corruption, kCorruption));
}

}  // namespace viaduct::path
