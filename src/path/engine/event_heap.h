// An indexed binary heap: a fixed set of items ordered by their instants. The heap knows the
// position of each item.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/time.h"

namespace viaduct::engine {

// Items are numbered from 0. Changing an item's instant costs O(log n), reading the earliest O(1).
class EventHeap {
 public:
  // All items start at Instant::Never().
  explicit EventHeap(size_t things = 0) { Resize(things); }
  void Resize(size_t things) {
    entries_.clear();
    places_.clear();
    for (uint32_t i = 0; i < things; ++i) {
      entries_.push_back({Instant::Never(), i});
      places_.push_back(i);
    }
  }

  Instant NextInstant() const { return entries_.empty() ? Instant::Never() : entries_[0].at; }
  uint32_t Next() const { return entries_[0].thing; }
  Instant At(uint32_t thing) const { return entries_[places_[thing]].at; }

  void Set(uint32_t thing, Instant at) {
    const uint32_t place = places_[thing];
    const Instant old = entries_[place].at;
    if (at == old) return;
    entries_[place].at = at;
    if (at < old) {
      Up(place);
    } else {
      Down(place);
    }
  }

 private:
  struct Entry {
    Instant at;
    uint32_t thing;
  };

  void Put(uint32_t place, const Entry& entry) {
    entries_[place] = entry;
    places_[entry.thing] = place;
  }
  void Up(uint32_t place) {
    const Entry entry = entries_[place];
    while (place > 0 && entry.at < entries_[(place - 1) / 2].at) {
      Put(place, entries_[(place - 1) / 2]);
      place = (place - 1) / 2;
    }
    Put(place, entry);
  }
  void Down(uint32_t place) {
    const Entry entry = entries_[place];
    while (2 * place + 1 < entries_.size()) {
      uint32_t child = 2 * place + 1;
      if (child + 1 < entries_.size() && entries_[child + 1].at < entries_[child].at) ++child;
      if (entry.at <= entries_[child].at) break;
      Put(place, entries_[child]);
      place = child;
    }
    Put(place, entry);
  }

  std::vector<Entry> entries_;
  std::vector<uint32_t> places_;
};

}  // namespace viaduct::engine
