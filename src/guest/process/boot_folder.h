// The folder in which guests find the sockets of their calendar and devices while they boot.
#pragma once

#include <filesystem>

#include "sys/guardian.h"

namespace viaduct::guest {

// An empty folder in the folder for temporary files (TMPDIR), removed on destruction, and also when
// this process is killed: a guardian outlives it for that.
class BootFolder {
 public:
  // Throws EnvironmentError if it cannot be created.
  BootFolder();
  ~BootFolder() = default;
  BootFolder(const BootFolder&) = delete;
  BootFolder& operator=(const BootFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  sys::Guardian guardian_;
};

}  // namespace viaduct::guest
