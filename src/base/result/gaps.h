// Where packets of a flow are missing, found as others arrive.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/fields.h"

namespace viaduct::result {

// Packets in a row that did not arrive.
struct Gap {
  // When the packets before and after it were sent, s since the flow's start. Of a gap at the
  // flow's begin the first is 0, of one at its end the second is absent.
  double from = 0;
  std::optional<double> to = {};
  uint64_t first = 0, lost = 0;  // the number of the first one, from 0; how many

  static fields::KeysOf<Gap> Keys();
  friend bool operator==(const Gap&, const Gap&) = default;
};

// Finds gaps by the numbers of the packets that arrive, in bounded memory: where there are more
// than kMost, the shorter half is left out. A packet that comes late closes or divides a gap.
class GapFinder {
 public:
  static constexpr size_t kMost = 2000;

  // `sent`: when, s since the flow's start. A packet that arrives again changes nothing.
  void Arrived(uint64_t number, double sent);
  // The gaps among the `offered` packets.
  std::vector<Gap> Find(uint64_t offered) const;
  // Packets of gaps that were left out.
  uint64_t omitted() const { return omitted_; }

 private:
  void FillIn(uint64_t number, double sent);
  void LeaveOut();

  std::vector<Gap> gaps_;  // in the order of their numbers
  uint64_t next_ = 0;      // the highest number that came + 1
  double last_ = 0;        // when that was sent
  uint64_t omitted_ = 0;
};

}  // namespace viaduct::result
