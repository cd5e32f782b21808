// The working folder of a kernel build inside the store of images, for one builder at a time.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "base/fd.h"

namespace viaduct::guest {

// An empty, locked folder of the store, which the destructor removes. The next build, whatever its
// key, removes the folders of builds that were killed.
class Workshop {
 public:
  // Creates the store if necessary, and waits until no other process builds with the key `key`;
  // calls `waiting` (may be empty) if it must wait. Throws ToolCancelled if `cancel_fd` becomes
  // readable, EnvironmentError if the store cannot be written.
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
