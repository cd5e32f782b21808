#include "base/result/gaps.h"

#include <algorithm>

namespace viaduct::result {

using fields::Always;
using fields::WhenSet;

fields::KeysOf<Gap> Gap::Keys() {
  static constexpr fields::Key<Gap> kKeys[] = {
      Always<&Gap::from>("from", "s",
                         "the time at which the packet before the gap was sent, counted from the "
                         "flow's start; 0 if there was no such packet"),
      WhenSet<&Gap::to>(
          "to", "s",
          "the time at which the packet after the gap was sent; absent if no later packet arrived"),
      Always<&Gap::first>("first", "a whole number",
                          "the number of the first lost packet, counted from 0"),
      Always<&Gap::lost>("lost", "packets", "the number of consecutive lost packets"),
  };
  return kKeys;
}

void GapFinder::Arrived(uint64_t number, double sent) {
  if (number < next_) return FillIn(number, sent);
  if (number > next_) {
    gaps_.push_back({last_, sent, next_, number - next_});
    if (gaps_.size() > kMost) LeaveOut();
  }
  next_ = number + 1;
  last_ = sent;
}

void GapFinder::FillIn(uint64_t number, double sent) {
  const auto after = std::ranges::upper_bound(gaps_, number, {}, &Gap::first);
  if (after == gaps_.begin()) return;
  const auto gap = std::prev(after);
  const uint64_t end = gap->first + gap->lost;
  if (number >= end) return;
  const Gap rest{sent, gap->to, number + 1, end - number - 1};
  gap->to = sent;
  gap->lost = number - gap->first;
  const auto place = gap->lost == 0 ? gaps_.erase(gap) : std::next(gap);
  if (rest.lost > 0) gaps_.insert(place, rest);
}

void GapFinder::LeaveOut() {
  const auto length = [](const Gap& gap) { return gap.to.value_or(gap.from) - gap.from; };
  std::vector<double> lengths;
  lengths.reserve(gaps_.size());
  for (const Gap& gap : gaps_) lengths.push_back(length(gap));
  const auto middle = lengths.begin() + kMost / 2;
  std::nth_element(lengths.begin(), middle, lengths.end());
  size_t excess = gaps_.size() - kMost / 2;
  std::erase_if(gaps_, [&](const Gap& gap) {
    if (excess == 0 || length(gap) > *middle) return false;
    --excess;
    omitted_ += gap.lost;
    return true;
  });
}

std::vector<Gap> GapFinder::Find(uint64_t offered) const {
  std::vector<Gap> found = gaps_;
  if (offered > next_) found.push_back({last_, std::nullopt, next_, offered - next_});
  return found;
}

}  // namespace viaduct::result
