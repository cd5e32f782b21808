// A reader that looks up destinations in a forwarding table which another process writes.
#pragma once

#include <optional>
#include <span>

#include "base/wire/address.h"
#include "plane/forward/entry.h"
#include "plane/forward/shared_memory.h"

namespace viaduct::forward {

// The result of a lookup: the kind of the entry, and the next hop.
struct Found {
  Kind kind = Kind::kNone;
  Hop hop;  // the next hop, for kForward and kUp
  friend bool operator==(const Found&, const Found&) = default;
};

// A reader of a forwarding table, for one thread; a table may have any number of readers. Readers
// never wait, and do not trust the memory: a place outside of it, or data that contradicts the
// format, is read as "no entry".
class TableReader {
 public:
  // The words must outlive the reader. Throws UsageError if they do not contain a table of this
  // format.
  explicit TableReader(std::span<const Word> words);

  // Returns the entry with the longest prefix that covers the address. If the entry has several
  // hops, chooses the hop for flows with this hash.
  Found Lookup(const wire::IpAddress& address, uint32_t flow_hash = 0) const;
  // Returns the table's version, which changes with each publication.
  uint32_t Version() const;
  IcmpLimits Limits() const;

 private:
  uint64_t At(uint64_t place) const {
    return place < words_.size() ? words_[place].load(std::memory_order_acquire) : 0;
  }
  Found Walk(uint64_t root, const wire::IpAddress& address, uint32_t flow_hash) const;
  Found ReadEntry(uint64_t place, wire::Family family, uint32_t flow_hash) const;

  std::span<const Word> words_;
};

}  // namespace viaduct::forward
