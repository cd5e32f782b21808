#include "path/model/timing_wheel.h"

#include <algorithm>
#include <bit>

namespace viaduct::path {

template <int bits>
int64_t TimingWheel::Occupied<bits>::FirstFrom(int64_t slot) const {
  const size_t start = Word(slot);
  const uint64_t after = words_[start] & (~uint64_t{0} << (slot % 64));
  if (after != 0) return static_cast<int64_t>(start * 64) + std::countr_zero(after);
  // The loop visits all words once, and ends with the bits of the first word that lie before
  // `slot`.
  for (size_t i = 1; i <= kWords; ++i) {
    const size_t word = (start + i) % kWords;
    if (words_[word] == 0) continue;
    return static_cast<int64_t>(word * 64) + std::countr_zero(words_[word]);
  }
  return -1;
}

TimingWheel::TimingWheel()
    : near_(kNearSlots, kNone), far_(kFarSlots, kNone), far_next_(kFarSlots, Instant::Never()) {}

TimingWheel::Index TimingWheel::NewNode(const Packet& packet) {
  Index index = free_;
  if (index == kNone) {
    index = static_cast<Index>(nodes_.size());
    nodes_.emplace_back();
  } else {
    free_ = nodes_[index].next;
  }
  nodes_[index].packet = packet;
  return index;
}

bool TimingWheel::Before(Index a, Index b) const {
  const Packet& left = nodes_[a].packet;
  const Packet& right = nodes_[b].packet;
  if (left.ready != right.ready) return left.ready < right.ready;
  return TurnBefore(left.turn, right.turn);
}

void TimingWheel::Insert(const Packet& packet, Instant now) {
  if (packets_ == 0) cursor_ = Tick(now);
  ++packets_;
  bytes_ += packet.bytes;
  if (packet.ready < next_) next_ = packet.ready;
  Place(NewNode(packet));
}

void TimingWheel::Place(Index node) {
  const Instant due = nodes_[node].packet.ready;
  const int64_t tick = Tick(due);
  if (tick <= cursor_) return PlaceNow(node);
  if (tick - cursor_ < kNearSlots) {
    const int64_t slot = tick & (kNearSlots - 1);
    nodes_[node].next = near_[static_cast<size_t>(slot)];
    near_[static_cast<size_t>(slot)] = node;
    return near_occupied_.Set(slot);
  }
  const int64_t far = tick >> kNearBits;
  if (far - (cursor_ >> kNearBits) < kFarSlots) {
    const auto slot = static_cast<size_t>(far & (kFarSlots - 1));
    nodes_[node].next = far_[slot];
    far_[slot] = node;
    far_next_[slot] = std::min(far_next_[slot], due);
    return far_occupied_.Set(static_cast<int64_t>(slot));
  }
  later_.push_back(node);
  std::push_heap(later_.begin(), later_.end(), [this](Index a, Index b) { return Before(b, a); });
}

void TimingWheel::PlaceNow(Index node) {
  const auto place = std::upper_bound(now_.begin(), now_.end(), node,
                                      [this](Index a, Index b) { return Before(b, a); });
  now_.insert(place, node);
}

// Moves the list of a slot to now_, unsorted.
void TimingWheel::TakeSlot(Index head) {
  for (Index node = head; node != kNone; node = nodes_[node].next) now_.push_back(node);
}

// Fills now_ with all packets that are due in the slot of next_; no packet is due earlier.
void TimingWheel::LoadNext() {
  cursor_ = Tick(next_);
  const auto far = static_cast<size_t>((cursor_ >> kNearBits) & (kFarSlots - 1));
  if (far_next_[far] != Instant::Never() && Tick(far_next_[far]) <= cursor_) {
    Index node = far_[far];
    far_[far] = kNone;
    far_next_[far] = Instant::Never();
    far_occupied_.Clear(static_cast<int64_t>(far));
    while (node != kNone) {
      const Index next = nodes_[node].next;
      // The packet moves to the near wheel or to now_, because the far slot is as long as the near
      // wheel and has begun.
      Place(node);
      node = next;
    }
  }
  const auto later_first = [this](Index a, Index b) { return Before(b, a); };
  while (!later_.empty() && Tick(nodes_[later_.front()].packet.ready) <= cursor_) {
    now_.push_back(later_.front());
    std::pop_heap(later_.begin(), later_.end(), later_first);
    later_.pop_back();
  }
  const auto near = static_cast<size_t>(cursor_ & (kNearSlots - 1));
  TakeSlot(near_[near]);
  near_[near] = kNone;
  near_occupied_.Clear(static_cast<int64_t>(near));
  if (now_.size() > 1) std::sort(now_.begin(), now_.end(), later_first);
}

void TimingWheel::FindNext() {
  next_ = Instant::Never();
  if (packets_ == 0) return;
  if (!now_.empty()) {
    next_ = nodes_[now_.back()].packet.ready;
    return;
  }
  const int64_t near = near_occupied_.FirstFrom((cursor_ + 1) & (kNearSlots - 1));
  if (near >= 0) {
    for (Index node = near_[static_cast<size_t>(near)]; node != kNone; node = nodes_[node].next) {
      next_ = std::min(next_, nodes_[node].packet.ready);
    }
  }
  const int64_t far = far_occupied_.FirstFrom((cursor_ >> kNearBits) & (kFarSlots - 1));
  if (far >= 0) next_ = std::min(next_, far_next_[static_cast<size_t>(far)]);
  if (!later_.empty()) next_ = std::min(next_, nodes_[later_.front()].packet.ready);
}

uint32_t TimingWheel::NextTurn() {
  if (packets_ == 0) return 0;
  if (now_.empty()) LoadNext();
  return nodes_[now_.back()].packet.turn;
}

Packet TimingWheel::PopFirst() {
  if (now_.empty()) LoadNext();
  const Index index = now_.back();
  now_.pop_back();
  Node& node = nodes_[index];
  node.next = free_;
  free_ = index;
  const Packet packet = node.packet;
  --packets_;
  bytes_ -= packet.bytes;
  FindNext();
  return packet;
}

}  // namespace viaduct::path
