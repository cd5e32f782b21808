#include "path/queue/flow_queues.h"

#include <algorithm>

#include "path/packet/flow_hash.h"

namespace viaduct::path {

// Returns the upper half of hash x flows: this maps a hash to a flow number without a division.
uint32_t FlowQueues::FlowOf(std::span<const std::byte> frame) const {
  const auto product = static_cast<unsigned __int128>(HashFlow(frame, seed_)) * flows_.size();
  return static_cast<uint32_t>(product >> 64);
}

void FlowQueues::Schedule(Round& round, uint32_t flow) {
  flows_[flow].next = kNone;
  if (round.last == kNone) {
    round.first = flow;
  } else {
    flows_[round.last].next = flow;
  }
  round.last = flow;
}

uint32_t FlowQueues::RemoveFirst(Round& round) {
  const uint32_t flow = round.first;
  round.first = flows_[flow].next;
  if (round.first == kNone) round.last = kNone;
  return flow;
}

void FlowQueues::Append(uint32_t flow, const Packet& packet) {
  Flow& queue = flows_[flow];
  lists_.Append(queue.list, packet);
  ++packets_;
  bytes_ += packet.bytes;
  if (queue.scheduled) return;
  queue.scheduled = true;
  queue.credits = quantum_;
  Schedule(new_, flow);
}

std::optional<Packet> FlowQueues::TakeFront(uint32_t flow) {
  const auto packet = lists_.TakeFront(flows_[flow].list);
  if (!packet) return std::nullopt;
  --packets_;
  bytes_ -= packet->bytes;
  return packet;
}

std::optional<uint32_t> FlowQueues::Turn() {
  while (new_.first != kNone || old_.first != kNone) {
    round_ = new_.first != kNone ? &new_ : &old_;
    Flow& flow = flows_[round_->first];
    if (flow.credits > 0) return round_->first;
    flow.credits += quantum_;
    Schedule(old_, RemoveFirst(*round_));
  }
  return std::nullopt;
}

// Ends the turn of an empty queue. An empty new queue passes through the list of old queues once
// before it can be new again: otherwise it could starve the old queues.
void FlowQueues::NothingSent() {
  const uint32_t flow = RemoveFirst(*round_);
  if (round_ == &new_ && old_.first != kNone) {
    Schedule(old_, flow);
  } else {
    flows_[flow].scheduled = false;
  }
}

uint32_t FlowQueues::Fattest() const {
  const auto fattest =
      std::max_element(flows_.begin(), flows_.end(),
                       [](const Flow& a, const Flow& b) { return a.list.bytes < b.list.bytes; });
  return static_cast<uint32_t>(fattest - flows_.begin());
}

}  // namespace viaduct::path
