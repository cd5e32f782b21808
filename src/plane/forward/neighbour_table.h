// The MAC addresses of a node's neighbours, as its kernel has resolved them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "base/time.h"
#include "base/wire/address.h"

namespace viaduct::forward {

struct Neighbour {
  wire::MacAddress mac;
  // The kernel has not heard from the neighbour for a while (NUD_STALE): it asks again only if it
  // sends something there itself.
  bool is_stale = false;
  Instant asked;  // when the kernel last got a packet to send for that reason
};

// For one thread.
class NeighbourTable {
 public:
  // Returns null if the neighbour's address is not (or no longer) resolved. Valid until the next
  // change.
  Neighbour* Find(uint32_t ifindex, const wire::IpAddress& address) {
    const auto found = entries_.find({ifindex, address});
    return found == entries_.end() ? nullptr : &found->second;
  }
  void Set(uint32_t ifindex, const wire::IpAddress& address, const wire::MacAddress& mac,
           bool is_stale) {
    Neighbour& entry = entries_[{ifindex, address}];
    entry.mac = mac;
    entry.is_stale = is_stale;
  }
  void Remove(uint32_t ifindex, const wire::IpAddress& address) {
    entries_.erase({ifindex, address});
  }
  void Clear() { entries_.clear(); }

 private:
  struct Key {
    uint32_t ifindex;
    wire::IpAddress address;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Hash {
    size_t operator()(const Key& key) const;
  };

  std::unordered_map<Key, Neighbour, Hash> entries_;
};

}  // namespace viaduct::forward
