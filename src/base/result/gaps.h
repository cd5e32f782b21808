// Gaps: consecutive lost packets of a flow, found from the numbers of the packets that arrive.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/fields.h"

namespace viaduct::result {

// Consecutive packets that did not arrive.
struct Gap {
  // The times at which the packets before and after the gap were sent, in s since the flow's start.
  // `from` is 0 for a gap at the flow's start; `to` is absent for a gap at the flow's end.
  double from = 0;
  std::optional<double> to = {};
  // The number of the first lost packet (counted from 0), and the number of lost packets.
  uint64_t first = 0, lost = 0;

  static fields::KeysOf<Gap> Keys();
  friend bool operator==(const Gap&, const Gap&) = default;
};

// Finds gaps by the numbers of the packets that arrive, in bounded memory: if there are more than
// kMost gaps, the shorter half of them is omitted. A packet that arrives late closes or divides a
// gap.
class GapFinder {
 public:
  static constexpr size_t kMost = 2000;

  // Records the arrival of packet `number`. `sent`: the time of its sending, s since the flow's
  // start. The arrival of a duplicate changes nothing.
  void Arrived(uint64_t number, double sent);
  // Returns the gaps among the first `offered` packets of the flow.
  std::vector<Gap> Find(uint64_t offered) const;
  // Returns the number of packets in the gaps that were omitted because there were too many.
  uint64_t omitted() const { return omitted_; }

 private:
  void FillIn(uint64_t number, double sent);
  void LeaveOut();

  std::vector<Gap> gaps_;  // sorted by the number of the first lost packet
  uint64_t next_ = 0;      // the highest number that arrived, plus one
  double last_ = 0;        // the time, s, at which packet next_ - 1 was sent
  uint64_t omitted_ = 0;
};

}  // namespace viaduct::result
