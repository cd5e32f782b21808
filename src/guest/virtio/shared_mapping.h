// Files in memory that another process can write to, and shorten, at any time.
#pragma once

#include <atomic>
#include <cstddef>

#include "base/fd.h"

namespace viaduct::guest {

// A mapping that can be accessed safely whatever happens to its file. If a page of it is missing
// (the file was truncated, or its file system has no space for the page) SIGBUS would kill this
// process; instead the whole mapping becomes private zeros, and lost() reports it. Installs a
// handler for SIGBUS, which passes on faults outside such mappings.
class SharedMapping {
 public:
  // Maps the first `length` bytes, to read and write. Throws SystemError.
  SharedMapping(const UniqueFd& fd, size_t length);
  ~SharedMapping();
  SharedMapping(const SharedMapping&) = delete;
  SharedMapping& operator=(const SharedMapping&) = delete;

  std::byte* start() const { return start_; }
  // Whether a page was missing when it was accessed: nothing that was read since then is valid.
  bool lost() const { return lost_.load(std::memory_order_relaxed); }

 private:
  friend struct SharedMappings;

  std::byte* start_;
  size_t length_;
  std::atomic<bool> lost_ = false;
  SharedMapping* next_ = nullptr;
};

}  // namespace viaduct::guest
