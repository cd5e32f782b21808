// Counters of the outcomes of a node's frames, written by the forwarder for its parent to read.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "plane/forward/shared_memory.h"

namespace viaduct::forward {

// The counters of a node's ports in shared memory, which outlives the forwarder's process. One
// thread writes the counters, others read them.
class Counters {
 public:
  static constexpr size_t kMaxOutcomes = 31;
  // The index of frames not sent, counted on the port that should have sent them: its interface
  // refused them or its queue was full.
  static constexpr size_t kNotSent = kMaxOutcomes - 1;
  // The index of frames that the kernel dropped, because the forwarder was too slow to receive
  // them.
  static constexpr size_t kRingFull = kMaxOutcomes - 2;
  static constexpr size_t kWordsPerPort = kMaxOutcomes + 1;

  static size_t WordsFor(size_t ports) { return ports * kWordsPerPort; }

  // `words` must outlive this object. Frames of a port for which there are too few words are not
  // counted.
  explicit Counters(std::span<Word> words) : words_(words) {}

  // Counts a frame that arrived on the port, by its outcome in the program.
  void Add(size_t port, size_t outcome, size_t bytes) {
    AddFrames(port, outcome, 1);
    if (outcome == 0 && Has(port)) Increase(words_[port * kWordsPerPort], bytes);
  }
  void AddFrames(size_t port, size_t outcome, uint64_t frames) {
    if (!Has(port) || outcome >= kMaxOutcomes) return;
    Increase(words_[port * kWordsPerPort + 1 + outcome], frames);
  }

  struct OfPort {
    std::array<uint64_t, kMaxOutcomes> frames{};
    uint64_t bytes = 0;  // bytes of frames with outcome 0 (forwarded)
  };
  static OfPort Read(std::span<const Word> words, size_t port);
  // Creates memory for the counters of `ports` ports. Throws SystemError.
  static SharedMemory Make(size_t ports);

 private:
  bool Has(size_t port) const { return port < words_.size() / kWordsPerPort; }
  static void Increase(Word& word, uint64_t by) {
    word.store(word.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
  }

  std::span<Word> words_;
};

}  // namespace viaduct::forward
