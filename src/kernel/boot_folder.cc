#include "kernel/boot_folder.h"

#include <poll.h>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>

#include "base/error.h"

namespace viaduct::kernel {
namespace {

namespace fs = std::filesystem;

// A guest that dies with its simulator may write its last file there while we remove the others.
constexpr int kTries = 100;
constexpr int kMillisecondsBetween = 10;

fs::path MakeFolder() {
  std::string pattern = (fs::temp_directory_path() / "viaduct-kernel-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) throw SystemError("make folder " + pattern, errno);
  return pattern;
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
    : path_(MakeFolder()), guardian_([this](int connection) {
        sys::AwaitEnd(connection);
        Remove(path_);
      }) {}

}  // namespace viaduct::kernel
