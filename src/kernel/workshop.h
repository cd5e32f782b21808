// Where a build works: a folder inside the store of images, one build at a time.
#pragma once

#include <filesystem>
#include <functional>

#include "base/fd.h"

namespace viaduct::kernel {

// Holds the store's lock, and an empty folder in it that is removed on destruction. What a killed
// build left is removed by the next.
class Workshop {
 public:
  // Creates the store if need be. Returns once no other build is at work there; `waiting` (may be
  // empty) is called if it must wait. Throws ToolCancelled when `cancel_fd` becomes readable,
  // EnvironmentError where the store cannot be written.
  Workshop(const std::filesystem::path& store, int cancel_fd, const std::function<void()>& waiting);
  ~Workshop();
  Workshop(const Workshop&) = delete;
  Workshop& operator=(const Workshop&) = delete;

  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
  UniqueFd lock_;
};

}  // namespace viaduct::kernel
