// A writer of a forwarding table (table_format.h).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <unordered_set>
#include <vector>

#include "base/wire/address.h"
#include "plane/forward/entry.h"
#include "plane/forward/shared_memory.h"
#include "plane/forward/table_format.h"

namespace viaduct::forward {

// The memory of a table, in blocks of words. A block that is released while one version is built is
// used again only for the version after the next. Sizes are rounded up to powers of two; free
// halves of a block are joined again (a buddy system: Knowlton, "A fast storage allocator", CACM
// 8(10), 1965), so that a table that was full and has lost entries has space for other entries.
class TableMemory {
 public:
  static constexpr size_t kClasses = 9;  // the number of sizes of blocks: 1, 2, 4... 256 words
  static constexpr size_t kLargest = size_t{1} << (kClasses - 1);

  explicit TableMemory(size_t words) : words_(words), next_(table::kHeaderWords) {}

  // Returns the place of a new block of this size. There must be space for it.
  uint32_t Take(size_t words);
  // Releases a block; `words` is the size given to Take().
  void Give(uint32_t place, size_t words);
  // Returns whether the block was taken for the version that is being built, so that no reader can
  // know it.
  bool IsNew(uint32_t place) const { return new_.contains(place); }
  // Returns the minimum number of blocks of the largest size that can still be taken.
  size_t LargestLeft() const { return (words_ - next_) / kLargest + free_[kClasses - 1].size(); }
  void StartVersion();

 private:
  uint32_t TakeOf(size_t size_class);
  void Free(uint32_t place, size_t size_class);

  size_t words_;
  size_t next_;  // start of the memory that no block has used yet
  std::array<std::unordered_set<uint32_t>, kClasses> free_;
  std::array<std::vector<uint32_t>, kClasses> given_;
  std::unordered_set<uint32_t> new_;
};

// The only writer of a table. Changes are collected between Begin() and Publish(), which makes all
// of them visible at once. For use by one thread.
class TableWriter {
 public:
  // Writes an empty table to the memory, which must outlive the writer.
  explicit TableWriter(std::span<Word> words);

  void SetLimits(const IcmpLimits& limits);

  void Begin();
  // Adds an entry or replaces it. Returns false, and changes nothing, if the memory is full.
  // `prefix` has no host bits.
  bool Set(const wire::IpPrefix& prefix, const Entry& entry);
  // Removes an entry; no error if there is none. Never fails; if the memory is almost full, it may
  // publish the changes made so far.
  void Remove(const wire::IpPrefix& prefix);
  void Publish();

 private:
  // A tree node on the path from the root to a prefix, and the slot of the path's next node in it.
  struct Step {
    uint32_t node;
    size_t slot;
  };
  struct Target {
    size_t levels;  // number of levels from the root down to the prefix's tree node
    size_t bit;     // the prefix's bit of `internal`
  };
  using EntryWords = std::vector<uint64_t>;
  struct Stored {
    uint32_t place = 0;
    uint64_t uses = 0;
  };

  static Target TargetOf(const wire::IpPrefix& prefix);
  uint64_t At(uint64_t place) const { return words_[place].load(std::memory_order_relaxed); }
  void Put(uint64_t place, uint64_t value) {
    words_[place].store(value, std::memory_order_release);
  }
  void Copy(uint32_t from, uint32_t to, size_t words);
  uint32_t RootOf(wire::Family family) const;
  bool Contains(const wire::IpPrefix& prefix) const;

  void ChangeArray(uint32_t node, size_t bitmap, size_t bit, bool is_added);
  void MakeNew(uint32_t node, size_t bitmap);
  uint32_t ArrayOf(uint32_t node, size_t bitmap) const;
  void SetArray(uint32_t node, size_t bitmap, uint32_t place);
  uint32_t Element(uint32_t node, size_t bitmap, size_t bit) const;
  bool Has(uint32_t node, size_t bitmap, size_t bit) const;
  std::vector<Step> MakeWay(const wire::IpPrefix& prefix, const Target& target);
  void Prune(const std::vector<Step>& way);

  uint32_t Store(const Entry& entry);
  void Release(uint32_t place);

  std::span<Word> words_;
  TableMemory memory_;
  uint32_t version_ = 0;
  uint32_t roots_ = 0;
  std::map<EntryWords, Stored> entries_;  // entries and their places; equal entries are stored once
  std::map<uint32_t, std::map<EntryWords, Stored>::iterator> by_place_;
};

}  // namespace viaduct::forward
