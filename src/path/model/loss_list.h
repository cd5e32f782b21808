// Loss of the packets with given numbers (the first packet has the number 1).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "path/packet/packet.h"

namespace viaduct::path {

struct LossList {
  static constexpr std::string_view kName = "list";
  struct Range {
    uint64_t first = 0, last = 0;
    friend bool operator==(const Range&, const Range&) = default;
  };
  std::vector<Range> ranges;  // ascending, disjoint
  size_t at = 0;              // state: index of the first range that has not ended
  friend bool operator==(const LossList&, const LossList&) = default;

  static LossList Parse(std::string_view text);
  std::string Format() const;
  void Check() const;

  bool Lose(const Packet& packet, RandomStream&) {
    while (at < ranges.size() && ranges[at].last < packet.number) ++at;
    return at < ranges.size() && ranges[at].first <= packet.number;
  }
};

}  // namespace viaduct::path
