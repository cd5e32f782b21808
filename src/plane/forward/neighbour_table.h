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
  // Whether the kernel has not heard from the neighbour for a while (NUD_STALE): the kernel probes
  // the neighbour again only if the kernel itself sends a packet to it.
  bool is_stale = false;
  Instant asked;  // when the kernel last got a packet to send to the stale neighbour
};

// The MAC addresses of neighbours, by interface and IP address. For use by one thread.
class NeighbourTable {
 public:
  // Returns a neighbour, or null if the neighbour's address is not (or no longer) resolved. The
  // pointer is valid until the next change.
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
