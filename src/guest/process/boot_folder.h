// The folders in which guests, while they boot, find the sockets of their calendar and devices, and
// create their memory.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sys/machine/registry.h"
#include "sys/process/guardian.h"

namespace viaduct::guest {

// The folder for files that are kept in memory.
inline constexpr const char* kMemoryFolder = "/dev/shm";

// The two folders of one simulation for guests that boot, as this user's registry
// (sys/machine/registry.h) records them.
struct BootFolders : sys::RegistryEntry {
  std::filesystem::path path, memory;

  void Read(const sys::RecordLines& lines);
};

// An empty folder in the folder for temporary files (TMPDIR) and another one in kMemoryFolder. Both
// are recorded before they are created, and removed by the destructor. If this process is killed, a
// guardian, which outlives the process, removes them.
class BootFolder {
 public:
  // Creates both folders. Throws EnvironmentError if one of the folders cannot be created.
  BootFolder();
  ~BootFolder() = default;
  BootFolder(const BootFolder&) = delete;
  BootFolder& operator=(const BootFolder&) = delete;

  const std::filesystem::path& path() const { return folders_.path; }
  // Returns the folder for the files of guests' memory; the folder stays empty, because the files
  // have no names.
  const std::filesystem::path& memory() const { return folders_.memory; }

 private:
  BootFolders folders_;
  sys::Guardian guardian_;
};

// Removes the folders of this user's simulations that were killed together with their guardians,
// and returns the folders. Problems are appended to `problems`.
std::vector<BootFolders> RemoveDeadBootFolders(std::vector<std::string>* problems);

}  // namespace viaduct::guest
