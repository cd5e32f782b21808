// Memory that two processes share through a memfd of fixed size.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/fd.h"

namespace viaduct::forward {

// The unit of all shared data: a word, which is read and written atomically.
using Word = std::atomic<uint64_t>;
static_assert(Word::is_always_lock_free && sizeof(Word) == 8);

// A mapping of shared memory, which exists until this object is destroyed.
class Mapping {
 public:
  enum class Access { kRead, kWrite };

  Mapping() = default;
  // Maps all of a memfd that cannot shrink (F_SEAL_SHRINK). Throws UsageError for any other
  // descriptor, SystemError.
  Mapping(int fd, Access access);
  // Maps the first `words` words of a descriptor, readable and writable: an eBPF array map, whose
  // owner is trusted to have given the right number of words. Throws SystemError.
  Mapping(int fd, size_t words);
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;
  ~Mapping();

  std::span<const Word> words() const { return words_; }
  // Returns the words for writing. Must be called only for a mapping that may be written.
  std::span<Word> writable() { return words_; }

 private:
  std::span<Word> words_;
};

// A memfd and its creator's mapping, which processes forked later do not inherit. Pages that were
// never written take no memory.
struct SharedMemory {
  UniqueFd fd;
  Mapping mapping;
};

enum class Writers {
  kCreator,  // only the creator writes: no later mapping can be writable (F_SEAL_FUTURE_WRITE)
  kAll,
};

// Creates a memfd of `words` words. `name` appears in /proc/PID/maps. Throws SystemError.
SharedMemory MakeSharedMemory(const char* name, size_t words, Writers writers);

}  // namespace viaduct::forward
