#include "remote/tunnel/fair_queue.h"

#include <algorithm>
#include <cstring>

namespace viaduct::tunnel {

FairQueue::FairQueue(const Limits& limits)
    : most_(limits.frames),
      max_frame_(limits.max_frame),
      memory_(std::make_unique_for_overwrite<std::byte[]>((limits.frames + 1) * limits.max_frame)),
      // One additional slot, for the frame that Pop() lends to the caller.
      slots_(limits.frames + 1),
      clients_(limits.clients) {
  free_.reserve(slots_.size());
  for (size_t slot = slots_.size(); slot > 0; --slot) {
    free_.push_back(static_cast<uint32_t>(slot - 1));
  }
}

size_t FairQueue::Share() const {
  return std::max<size_t>(1, most_ / std::max<size_t>(1, waiting_clients_));
}

size_t FairQueue::RoomOf(size_t client) const {
  const size_t share = Share();
  return share - std::min(share, clients_[client].size);
}

size_t FairQueue::LongestClient() const {
  const auto longest = std::ranges::max_element(clients_, {}, &Client::size);
  return static_cast<size_t>(longest - clients_.begin());
}

std::optional<size_t> FairQueue::Push(size_t number, std::span<const std::byte> frame,
                                      Instant received) {
  Client& client = clients_[number];
  std::optional<size_t> loser;
  if (client.size >= Share()) return number;
  if (size_ == most_) {
    // The client is below its share, but the memory is full. Another client has more than its
    // share, because the shares were larger before further clients arrived. This other client loses
    // a frame.
    loser = LongestClient();
    if (*loser == number) return number;
    Free(TakeOldest(*loser));
  }
  const uint32_t at = free_.back();
  free_.pop_back();
  Slot& slot = slots_[at];
  slot = {.older = newest_,
          .client = static_cast<uint32_t>(number),
          .length = static_cast<uint32_t>(frame.size()),
          .received = received};
  std::memcpy(BytesOf(at), frame.data(), frame.size());
  (newest_ == kNone ? oldest_ : slots_[newest_].newer) = at;
  newest_ = at;
  (client.newest == kNone ? client.oldest : slots_[client.newest].next) = at;
  client.newest = at;
  if (client.size++ == 0) ++waiting_clients_;
  if (++size_ > kInOrder && !fair_) {
    fair_ = true;
    turns_.clear();
    // The first turns are for the clients whose frames have waited longest.
    for (uint32_t each = oldest_; each != kNone; each = slots_[each].newer) {
      Client& waiting = clients_[slots_[each].client];
      if (waiting.active) continue;
      waiting.active = true;
      turns_.push_back(slots_[each].client);
    }
  } else if (fair_ && !client.active) {
    client.active = true;
    client.deficit = kQuantum;
    new_turns_.push_back(number);
  }
  return loser;
}

uint32_t FairQueue::TakeOldest(size_t number) {
  Client& client = clients_[number];
  const uint32_t at = client.oldest;
  const Slot& slot = slots_[at];
  client.oldest = slot.next;
  if (client.oldest == kNone) client.newest = kNone;
  if (--client.size == 0) --waiting_clients_;
  (slot.older == kNone ? oldest_ : slots_[slot.older].newer) = slot.newer;
  (slot.newer == kNone ? newest_ : slots_[slot.newer].older) = slot.older;
  --size_;
  return at;
}

void FairQueue::ForgetTurns(std::deque<size_t>& turns) {
  for (const size_t number : turns) {
    clients_[number].active = false;
    clients_[number].deficit = 0;
  }
  turns.clear();
}

void FairQueue::Free(uint32_t slot) { free_.push_back(slot); }

uint32_t FairQueue::PopFair() {
  for (;;) {
    const bool is_new = !new_turns_.empty();
    std::deque<size_t>& turns = is_new ? new_turns_ : turns_;
    const size_t number = turns.front();
    Client& client = clients_[number];
    if (client.size == 0) {
      // A new client that has no further frames becomes new again only after all other clients have
      // had a turn. Otherwise the client could always be new.
      turns.pop_front();
      client.deficit = 0;
      client.active = is_new;
      if (is_new) turns_.push_back(number);
      continue;
    }
    const size_t length = slots_[client.oldest].length;
    if (length <= client.deficit) {
      client.deficit -= length;
      return TakeOldest(number);
    }
    client.deficit += kQuantum;
    turns.pop_front();
    turns_.push_back(number);
  }
}

std::optional<FairQueue::Frame> FairQueue::Pop() {
  if (lent_ != kNone) Free(lent_);
  lent_ = kNone;
  if (size_ == 0) return std::nullopt;
  lent_ = fair_ ? PopFair() : TakeOldest(slots_[oldest_].client);
  if (size_ == 0 && fair_) {
    fair_ = false;
    ForgetTurns(new_turns_);
    ForgetTurns(turns_);
  }
  const Slot& slot = slots_[lent_];
  // Prefetches the next frame into the processor's cache, which the frame has left while it waited.
  const uint32_t next = slot.next != kNone ? slot.next : oldest_;
  if (next != kNone) __builtin_prefetch(BytesOf(next));
  return Frame{slot.client, {BytesOf(lent_), slot.length}, slot.received};
}

}  // namespace viaduct::tunnel
