#include "plane/forward/counters.h"

#include <algorithm>

namespace viaduct::forward {

Counters::OfPort Counters::Read(std::span<const Word> words, size_t port) {
  OfPort counters;
  if (port >= words.size() / kWordsPerPort) return counters;
  const auto own = words.subspan(port * kWordsPerPort, kWordsPerPort);
  counters.bytes = own[0].load(std::memory_order_relaxed);
  for (size_t i = 0; i < kMaxOutcomes; ++i) {
    counters.frames[i] = own[1 + i].load(std::memory_order_relaxed);
  }
  return counters;
}

SharedMemory Counters::Make(size_t ports) {
  return MakeSharedMemory("viaduct-counters", WordsFor(std::max<size_t>(ports, 1)), Writers::kAll);
}

}  // namespace viaduct::forward
