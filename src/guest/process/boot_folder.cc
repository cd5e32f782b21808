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

[[noreturn]] void RefuseFolder(const std::string& folder, const std::string& reason) {
  throw EnvironmentError(fmt::format(
      "no folder for the sockets of kernel guests: {}: {}; set TMPDIR to another folder", folder,
      reason));
}

fs::path MakeFolder() {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  if (error) {
    const char* named = std::getenv("TMPDIR");
    RefuseFolder(named != nullptr ? named : "/tmp", error.message());
  }
  std::string pattern = (parent / "viaduct-kernel-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) RefuseFolder(parent.string(), strerror(errno));
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

}  // namespace viaduct::guest
