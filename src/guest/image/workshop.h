// Where a build works: a folder inside the store of images, one builder at a time.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "base/fd.h"

namespace viaduct::guest {

// Holds an empty folder of the store, locked, and removes it on destruction. The next build,
// whatever its key, removes what a killed one has left.
class Workshop {
 public:
  // Creates the store if need be. Returns once nobody else builds under this key; `waiting` (may be
  // empty) is called if it must wait. Throws ToolCancelled when `cancel_fd` becomes readable,
  // EnvironmentError where the store cannot be written.
  Workshop(const std::filesystem::path& store, const std::string& key, int cancel_fd,
           const std::function<void()>& waiting);
  ~Workshop();
  Workshop(const Workshop&) = delete;
  Workshop& operator=(const Workshop&) = delete;

  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
  UniqueFd lock_;
};

}  // namespace viaduct::guest
