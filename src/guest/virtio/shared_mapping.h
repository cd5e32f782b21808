// Files in memory that another process can write to, and shorten, at any time.
#pragma once

#include <atomic>
#include <cstddef>

#include "base/fd.h"

namespace viaduct::guest {

// A mapping that is safe to touch whatever becomes of its file. Where a page of it is gone (the
// file was cut, or its file system has no room for the page) this process would be ended by SIGBUS;
// instead the whole mapping becomes zeros of its own, and lost() says so. Installs a handler for
// SIGBUS, which passes on what is not of such a mapping.
class SharedMapping {
 public:
  // The first `length` bytes, to read and write. Throws SystemError.
  SharedMapping(const UniqueFd& fd, size_t length);
  ~SharedMapping();
  SharedMapping(const SharedMapping&) = delete;
  SharedMapping& operator=(const SharedMapping&) = delete;

  std::byte* start() const { return start_; }
  // Whether a page was gone when it was touched: nothing that was read since then is true.
  bool lost() const { return lost_.load(std::memory_order_relaxed); }

 private:
  friend struct SharedMappings;

  std::byte* start_;
  size_t length_;
  std::atomic<bool> lost_ = false;
  SharedMapping* next_ = nullptr;
};

}  // namespace viaduct::guest
