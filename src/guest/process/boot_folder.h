// The folders in which guests find the sockets of their calendar and devices, and create their
// memory, while they boot.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sys/machine/registry.h"
#include "sys/process/guardian.h"

namespace viaduct::guest {

// The folder of files that take memory.
inline constexpr const char* kMemoryFolder = "/dev/shm";

// The folders of a simulation for guests that boot, as the registry of this user
// (sys/machine/registry.h) records them.
struct BootFolders : sys::RegistryEntry {
  std::filesystem::path path, memory;

  void Read(const sys::RecordLines& lines);
};

// An empty folder in the folder for temporary files (TMPDIR) and one in kMemoryFolder, recorded
// before they are made and removed on destruction, and also when this process is killed: a guardian
// outlives the process for that.
class BootFolder {
 public:
  // Creates both folders. Throws EnvironmentError if one of them cannot be created.
  BootFolder();
  ~BootFolder() = default;
  BootFolder(const BootFolder&) = delete;
  BootFolder& operator=(const BootFolder&) = delete;

  const std::filesystem::path& path() const { return folders_.path; }
  // The folder for the files of guests' memory, which have no names: it stays empty.
  const std::filesystem::path& memory() const { return folders_.memory; }

 private:
  BootFolders folders_;
  sys::Guardian guardian_;
};

// Removes and returns the folders of this user's simulations whose guardian was killed, too.
// Problems are appended to `problems`.
std::vector<BootFolders> RemoveDeadBootFolders(std::vector<std::string>* problems);

}  // namespace viaduct::guest
