// Memory that two processes share through a memfd of fixed size.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/fd.h"

namespace viaduct::forward {

// All that is shared consists of words, each of which is read and written at once.
using Word = std::atomic<uint64_t>;
static_assert(Word::is_always_lock_free && sizeof(Word) == 8);

// A mapping, until it is destroyed.
class Mapping {
 public:
  enum class Access { kRead, kWrite };

  Mapping() = default;
  // All of a memfd that cannot shrink (F_SEAL_SHRINK); UsageError for any other descriptor. Throws
  // SystemError.
  Mapping(int fd, Access access);
  // The first words of a descriptor that its owner, who is trusted, says to have them: an array map
  // of eBPF. May be read and written. Throws SystemError.
  Mapping(int fd, size_t words);
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;
  ~Mapping();

  std::span<const Word> words() const { return words_; }
  // Of a mapping that may be written.
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
  kCreator,  // nobody can map it writable from now on (F_SEAL_FUTURE_WRITE)
  kAll,
};

// `name` is for /proc/PID/maps. Throws SystemError.
SharedMemory MakeSharedMemory(const char* name, size_t words, Writers writers);

}  // namespace viaduct::forward
