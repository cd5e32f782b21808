#include "path/model/corruption.h"

#include "base/wire/transport_payload.h"
#include "path/grammar/parameters.h"
#include "path/model/bit_errors.h"

namespace viaduct::path {
namespace {

constexpr Choice<DamagedChecksum> kChecksums = {"keep", "fix"};

DamagedChecksum ParseChecksum(std::string_view value) { return kChecksums.Parse(value); }
std::string_view FormatChecksum(DamagedChecksum checksum) { return kChecksums.Format(checksum); }

constexpr Parameter<Corruption> kCorruption[] = {
    ProbabilityParameter<&Corruption::chance, &Chance::correlation>("corr"),
    FlagParameter<&Corruption::header>("header"),
    ValueParameter<ParseChecksum, FormatChecksum, &Corruption::checksum>("checksum")};

uint64_t FlipPayload(std::span<std::byte> frame, RandomStream& random) {
  const auto payload = wire::FindTransportPayload(frame);
  if (!payload) return 0;
  wire::FlipPayloadBit(frame, *payload, random.Below((payload->end - payload->begin) * 8));
  return 1;
}

}  // namespace

void Corruption::Check() const {
  chance.Check();
  if (header && checksum == DamagedChecksum::kFix) {
    throw UsageError(
        "header contradicts checksum=fix, which damages only the payload of UDP and TCP; remove "
        "one of the two");
  }
}

uint64_t Corruption::Flip(std::span<std::byte> frame, RandomStream& random) const {
  if (checksum == DamagedChecksum::kFix) return FlipPayload(frame, random);
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
