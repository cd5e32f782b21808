// The tables of an RBridge (rbridge::Tables) in shared memory: one writer, the control plane; any
// number of readers, which neither wait nor write to the memory.
//
// The memory has two copies of the tables: version V is in copy V & 1, so the writer never changes
// the data that a reader of the current version reads. The writer announces version V + 2 in kBegun
// before it overwrites version V; if kBegun <= V + 1 when a reader has finished copying version V,
// the reader has read no data of version V + 2 (as in table_format.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "plane/forward/shared_memory.h"
#include "plane/rbridge/tables.h"

namespace viaduct::forward {

namespace rbridge_tables {
// Indices of the header's words from the start of the memory.
enum HeaderWord : size_t {
  kMagicWord,
  kSizeWord,  // size of one copy of the tables, in words
  kBegun,     // the version that is being written, or the current version
  kCurrent,   // the current version; 0: nothing published yet
  kHeaderWords
};
inline constexpr uint64_t kMagic = 0x5641444652423031;  // the text "VADFRB01"
static_assert(sizeof(rbridge::Tables) % sizeof(Word) == 0);
inline constexpr size_t kCopyWords = sizeof(rbridge::Tables) / sizeof(Word);
inline constexpr size_t kWords = kHeaderWords + 2 * kCopyWords;
}  // namespace rbridge_tables

class RBridgeTablesWriter {
 public:
  // Continues with the memory's present contents, which another writer may have written. The words
  // must outlive this object. Throws UsageError if there are fewer than rbridge_tables::kWords
  // words.
  explicit RBridgeTablesWriter(std::span<Word> words);
  void Publish(const rbridge::Tables& tables);

 private:
  std::span<Word> words_;
};

// A reader for one thread. The reader trusts only the size of the memory: the tables may consist of
// any bytes, because rbridge::Forward() accepts any bytes. The tables that Read() returns do not
// change while they are used.
class RBridgeTablesReader {
 public:
  // The words must outlive this object. Throws UsageError if they do not contain tables of this
  // format.
  explicit RBridgeTablesReader(std::span<const Word> words);

  // Returns the newest tables. Before the first publication, returns tables that forward nothing.
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
