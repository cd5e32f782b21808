// The part of the loop for directions that share a link: their ports are read together, and their
// frames enter the pipelines in the order of time.
#include <algorithm>
#include <map>
#include <tuple>

#include "path/engine/loop.h"

namespace viaduct::engine {

// Joins the receivers of lanes that share a link into one group. A receiver whose lanes use several
// links joins the groups of these links.
void Loop::JoinReceivers() {
  links_.Check();
  std::map<std::string, uint32_t> first;
  for (const Lane& lane : lanes_) {
    const auto& link = lane.pipeline->spec().link.shared;
    if (link) Join(first.try_emplace(*link, lane.receiver).first->second, lane.receiver);
  }
}

void Loop::Join(uint32_t a, uint32_t b) {
  for (const uint32_t each : {a, b}) {
    if (receivers_[each].group != kNone) continue;
    receivers_[each].group = static_cast<uint32_t>(groups_.size());
    groups_.emplace_back().receivers.push_back(each);
  }
  Group& to = groups_[receivers_[a].group];
  Group& from = groups_[receivers_[b].group];
  if (&to == &from) return;
  for (const uint32_t each : from.receivers) {
    receivers_[each].group = receivers_[a].group;
    to.receivers.push_back(each);
  }
  from.receivers.clear();
}

// Reads the receivers of a group. A frame enters its pipeline when all receivers of the group have
// been read up to the frame's instant.
void Loop::PollGroup(Group& group) {
  for (const uint32_t each : group.receivers) Read(receivers_[each]);
  const Instant searched = SearchedOf(receivers_[group.receivers.front()]);
  std::sort(group.arrivals.begin(), group.arrivals.end(), [](const Arrival& a, const Arrival& b) {
    return std::tie(a.at, a.turn) < std::tie(b.at, b.turn);
  });
  auto next = group.arrivals.begin();
  for (; next != group.arrivals.end() && next->at <= searched; ++next) Push(*next);
  group.arrivals.erase(group.arrivals.begin(), next);
  UpdateTouched();
  for (const uint32_t each : group.receivers) PlanNextLook(each, receivers_[each].emptied);
  if (!group.arrivals.empty()) poll_schedule_.Set(group.receivers.front(), now_);
}

}  // namespace viaduct::engine
