#include "plane/forward/rbridge_tables.h"

#include <atomic>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace viaduct::forward {
namespace {

size_t CopyOf(uint64_t version) {
  return rbridge_tables::kHeaderWords + (version & 1) * rbridge_tables::kCopyWords;
}

}  // namespace

RBridgeTablesWriter::RBridgeTablesWriter(std::span<Word> words) : words_(words) {
  if (words.size() < rbridge_tables::kWords)
    throw UsageError("too little shared memory for an RBridge's tables");
  words_[rbridge_tables::kMagicWord] = rbridge_tables::kMagic;
  words_[rbridge_tables::kSizeWord] = rbridge_tables::kCopyWords;
}

void RBridgeTablesWriter::Publish(const rbridge::Tables& tables) {
  const uint64_t version = words_[rbridge_tables::kCurrent].load(std::memory_order_relaxed) + 1;
  words_[rbridge_tables::kBegun].store(version, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  const auto* from = reinterpret_cast<const std::byte*>(&tables);
  for (Word& word : words_.subspan(CopyOf(version), rbridge_tables::kCopyWords)) {
    uint64_t value = 0;
    std::memcpy(&value, from, sizeof value);
    word.store(value, std::memory_order_relaxed);
    from += sizeof value;
  }
  words_[rbridge_tables::kCurrent].store(version, std::memory_order_release);
}

RBridgeTablesReader::RBridgeTablesReader(std::span<const Word> words)
    : words_(words),
      tables_(std::make_unique<rbridge::Tables>()),
      spare_(std::make_unique<rbridge::Tables>()) {
  if (words.size() < rbridge_tables::kWords ||
      words[rbridge_tables::kMagicWord] != rbridge_tables::kMagic ||
      words[rbridge_tables::kSizeWord] != rbridge_tables::kCopyWords) {
    throw UsageError("the tables of an RBridge in shared memory have a different format");
  }
  tables_->Clear();
}

// Copies the newest tables. If they were overwritten during the call, discards the copy: the next
// call reads the newer version.
void RBridgeTablesReader::Copy() {
  const uint64_t version = words_[rbridge_tables::kCurrent].load(std::memory_order_acquire);
  auto* to = reinterpret_cast<std::byte*>(spare_.get());
  for (const Word& word : words_.subspan(CopyOf(version), rbridge_tables::kCopyWords)) {
    const uint64_t value = word.load(std::memory_order_relaxed);
    std::memcpy(to, &value, sizeof value);
    to += sizeof value;
  }
  std::atomic_thread_fence(std::memory_order_acquire);
  if (words_[rbridge_tables::kBegun].load(std::memory_order_relaxed) > version + 1) return;
  std::swap(tables_, spare_);
  version_ = version;
}

}  // namespace viaduct::forward
