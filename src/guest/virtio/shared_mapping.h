// Mappings of files in memory to which another process can write, and which it can shorten, at any
// time.
#pragma once

#include <atomic>
#include <cstddef>

#include "base/fd.h"

namespace viaduct::guest {

// A mapping that can be accessed safely whatever happens to its file. If a page of the mapping is
// missing (the file was truncated, or its file system has no space for the page), SIGBUS would kill
// this process. Instead, the complete mapping is replaced with private zeros, and lost() returns
// true. The constructor installs a handler of SIGBUS, which passes on faults outside all mappings.
class SharedMapping {
 public:
  // Maps the first `length` bytes of the file for reading and writing. Throws SystemError.
  SharedMapping(const UniqueFd& fd, size_t length);
  ~SharedMapping();
  SharedMapping(const SharedMapping&) = delete;
  SharedMapping& operator=(const SharedMapping&) = delete;

  std::byte* start() const { return start_; }
  // Returns whether a page was missing when it was accessed: then the bytes that were read since
  // that access are not valid.
  bool lost() const { return lost_.load(std::memory_order_relaxed); }

 private:
  friend struct SharedMappings;

  std::byte* start_;
  size_t length_;
  std::atomic<bool> lost_ = false;
  SharedMapping* next_ = nullptr;
};

}  // namespace viaduct::guest
