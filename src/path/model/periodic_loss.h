// Loss of the packets with the numbers first, first + every, first + 2 every...; `burst` packets
// each time.
#pragma once

#include <array>

#include "base/random.h"
#include "path/grammar/parameters.h"
#include "path/packet/packet.h"

namespace viaduct::path {

struct PeriodicLoss {
  static constexpr std::string_view kName = "periodic", kExample = "every=100";
  uint64_t every = 1, burst = 1, first = 1;  // default of `first`: every
  friend bool operator==(const PeriodicLoss&, const PeriodicLoss&) = default;

  static constexpr auto Table() {
    return std::array{IntegerParameter<1, kMaxPackets, &PeriodicLoss::every>("every"),
                      IntegerParameter<1, kMaxPackets, &PeriodicLoss::burst>("burst"),
                      IntegerParameter<1, kMaxPackets, &PeriodicLoss::first>("first")};
  }
  void Complete(const std::vector<bool>& given) {
    if (!given[2]) first = every;
  }
  void Check() const {
    if (burst <= every) return;
    throw UsageError(
        fmt::format("periodic: burst={} is greater than every={}; reduce burst or increase every",
                    burst, every));
  }

  bool Lose(const Packet& packet, RandomStream&) const {
    return packet.number >= first && (packet.number - first) % every < burst;
  }
};

}  // namespace viaduct::path
