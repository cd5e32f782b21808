// The folders in which guests find the sockets of their calendar and devices, and create their
// memory, while they boot.
#pragma once

#include <filesystem>

#include "sys/guardian.h"

namespace viaduct::guest {

// Where files are that take memory.
inline constexpr const char* kMemoryFolder = "/dev/shm";

// An empty folder in the folder for temporary files (TMPDIR) and one in kMemoryFolder, removed on
// destruction, and also when this process is killed: a guardian outlives it for that.
class BootFolder {
 public:
  // Throws EnvironmentError if one of them cannot be created.
  BootFolder();
  ~BootFolder() = default;
  BootFolder(const BootFolder&) = delete;
  BootFolder& operator=(const BootFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  // For the files of guests' memory, which have no names: it stays empty.
  const std::filesystem::path& memory() const { return memory_; }

 private:
  std::filesystem::path path_;
  std::filesystem::path memory_;
  sys::Guardian guardian_;
};

}  // namespace viaduct::guest
