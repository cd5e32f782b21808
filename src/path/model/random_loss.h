// Loss by chance: independent, or with a correlation between consecutive packets; optionally with a
// maximum number of losses in a row.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/random.h"
#include "path/model/chance.h"
#include "path/packet/packet.h"

namespace viaduct::path {

// `run` limits the losses in a row: the packet after `run` losses passes, even if it was chosen to
// be lost. So the losses are the same as with this seed without `run`, except for these packets.
// Without `run`, losses occur in geometric runs, each continuing with probability a = correlation +
// (1 - correlation) * probability; of a run of L packets, L / (run + 1) packets pass with `run`,
// rounded down. The share of losses in the long run is therefore probability * (1 - a^run) / (1 -
// a^(run + 1)).
struct RandomLoss {
  Chance chance;
  uint64_t run = 0;  // maximum number of losses in a row; 0: no limit
  uint64_t row = 0;  // state: number of losses in a row before the next packet
  friend bool operator==(const RandomLoss&, const RandomLoss&) = default;

  // Throws UsageError if the parameters contradict each other.
  void Check() const { chance.Check(); }
  bool Lose(const Packet&, RandomStream& random) {
    const bool lost = chance.Take(random) && (run == 0 || row < run);
    row = lost ? row + 1 : 0;
    return lost;
  }
};

// Parses "1%" or "1%:corr=25%,run=3". Throws UsageError if the value is not valid.
RandomLoss ParseRandomLoss(std::string_view value);
std::string FormatRandomLoss(const RandomLoss& loss);

}  // namespace viaduct::path
