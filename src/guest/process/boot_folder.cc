#include "guest/process/boot_folder.h"

#include <fmt/core.h>
#include <poll.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>

#include "base/error.h"

namespace viaduct::guest {
namespace {

namespace fs = std::filesystem;

// A guest that dies with its simulator may create a last file there while we remove the others.
constexpr int kTries = 100;
constexpr int kMillisecondsBetween = 10;

fs::path MakeFolderIn(const fs::path& parent, const char* purpose, const char* remedy) {
  std::string pattern = (parent / "viaduct-kernel-XXXXXX").string();
  if (mkdtemp(pattern.data()) != nullptr) return pattern;
  throw EnvironmentError(fmt::format("no folder for the {} of kernel guests: {}: {}; {}", purpose,
                                     parent.string(), strerror(errno), remedy));
}

fs::path TemporaryFolder() {
  std::error_code error;
  const fs::path found = fs::temp_directory_path(error);
  const char* named = std::getenv("TMPDIR");
  // mkdtemp(3) tells what is wrong with it.
  return error && named != nullptr ? named : found;
}

fs::path MakeMemoryFolder(const fs::path& made_before) {
  try {
    return MakeFolderIn(kMemoryFolder, "memory", "guests' memory needs a file system there");
  } catch (const EnvironmentError&) {
    fs::remove(made_before);
    throw;
  }
}

void Remove(const fs::path& folder) {
  for (int i = 0; i < kTries; ++i) {
    std::error_code error;
    fs::remove_all(folder, error);
    if (!error) return;
    poll(nullptr, 0, kMillisecondsBetween);
  }
}

}  // namespace

BootFolder::BootFolder()
    : path_(MakeFolderIn(TemporaryFolder(), "sockets", "set TMPDIR to another folder")),
      memory_(MakeMemoryFolder(path_)),
      guardian_([this](int connection) {
        sys::AwaitEnd(connection);
        Remove(path_);
        Remove(memory_);
      }) {}

}  // namespace viaduct::guest
