// Gaps among the packets of a flow, found from the packets that arrive.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/fields.h"

namespace viaduct::result {

// Consecutive packets that did not arrive.
struct Gap {
  // The times at which the packets before and after the gap were sent, s since the flow's start.
  // For a gap at the flow's start `from` is 0; for a gap at its end `to` is absent.
  double from = 0;
  std::optional<double> to = {};
  uint64_t first = 0, lost = 0;  // the number of the first lost packet, from 0; the lost packets

  static fields::KeysOf<Gap> Keys();
  friend bool operator==(const Gap&, const Gap&) = default;
};

// Finds gaps by the numbers of the packets that arrive, in bounded memory: if there are more than
// kMost, the shorter half is left out. A packet that arrives late closes or divides a gap.
class GapFinder {
 public:
  static constexpr size_t kMost = 2000;

  // `sent`: the time of sending, s since the flow's start. A packet that arrives again changes
  // nothing.
  void Arrived(uint64_t number, double sent);
  // Returns the gaps among the `offered` packets.
  std::vector<Gap> Find(uint64_t offered) const;
  // Returns the number of packets in the gaps that were left out.
  uint64_t omitted() const { return omitted_; }

 private:
  void FillIn(uint64_t number, double sent);
  void LeaveOut();

  std::vector<Gap> gaps_;  // sorted by the number of the first packet
  uint64_t next_ = 0;      // the highest number that arrived + 1
  double last_ = 0;        // the time at which that packet was sent
  uint64_t omitted_ = 0;
};

}  // namespace viaduct::result
