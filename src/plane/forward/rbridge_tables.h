// The tables of an RBridge (rbridge::Tables) in shared memory: one writer, the control plane; any
// number of readers, which neither wait nor write anything.
//
// There are two copies: version V is in copy V & 1, so the writer never changes the data that a
// reader of the current version sees. kBegun announces version V + 2 before it overwrites version
// V; a reader whose copy of version V ended with kBegun <= V + 1 has read nothing of version V + 2
// (as in table_format.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "plane/forward/shared_memory.h"
#include "plane/rbridge/tables.h"

namespace viaduct::forward {

namespace rbridge_tables {
// Indices of words from the start of the memory.
enum HeaderWord : size_t {
  kMagicWord,
  kSizeWord,  // size of one copy of the tables, in words
  kBegun,     // the version that is being written, or the current one
  kCurrent,   // version; 0: nothing published yet
  kHeaderWords
};
inline constexpr uint64_t kMagic = 0x5641444652423031;  // "VADFRB01"
static_assert(sizeof(rbridge::Tables) % sizeof(Word) == 0);
inline constexpr size_t kCopyWords = sizeof(rbridge::Tables) / sizeof(Word);
inline constexpr size_t kWords = kHeaderWords + 2 * kCopyWords;
}  // namespace rbridge_tables

class RBridgeTablesWriter {
 public:
  // Continues with the present contents, whoever has written them. The words must outlive this.
  // Throws UsageError if they are fewer than rbridge_tables::kWords.
  explicit RBridgeTablesWriter(std::span<Word> words);
  void Publish(const rbridge::Tables& tables);

 private:
  std::span<Word> words_;
};

// For one thread. Trusts only the size of the memory: the tables read may be any bytes, which
// rbridge::Forward() accepts, and do not change while they are used.
class RBridgeTablesReader {
 public:
  // The words must outlive this. Throws UsageError if they are no tables of this format.
  explicit RBridgeTablesReader(std::span<const Word> words);

  // Returns the newest tables. Before the first publication, they forward nothing.
  const rbridge::Tables& Read() {
    const uint64_t current = words_[rbridge_tables::kCurrent].load(std::memory_order_acquire);
    if (current != version_) Copy();
    return *tables_;
  }
  // Returns the version of the tables that Read() returned last.
  uint64_t Version() const { return version_; }

 private:
  void Copy();

  std::span<const Word> words_;
  uint64_t version_ = 0;
  std::unique_ptr<rbridge::Tables> tables_, spare_;
};

}  // namespace viaduct::forward
