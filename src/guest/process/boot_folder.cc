#include "guest/process/boot_folder.h"

#include <fmt/core.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>

#include "base/error.h"

namespace viaduct::guest {
namespace {

namespace fs = std::filesystem;

// The maximum number of attempts to remove a folder: a guest that is killed with its simulator may
// create another file in the folder during an attempt.
constexpr int kTries = 100;
constexpr int kMillisecondsBetween = 10;

sys::Registry Booting() { return {sys::UserPlace("booting"), {"record.json"}}; }

// Returns a random name, because other users must not be able to foresee the name and create a
// folder with it.
std::string DrawName() {
  uint64_t number = 0;
  SystemCall("getrandom", static_cast<int>(getrandom(&number, sizeof number, 0)));
  return fmt::format("viaduct-kernel-{:016x}", number);
}

fs::path TemporaryFolder() {
  std::error_code error;
  const fs::path found = fs::temp_directory_path(error);
  const char* named = std::getenv("TMPDIR");
  // If TMPDIR is not a usable folder, creating a folder in it reports the error.
  return error && named != nullptr ? named : found;
}

void MakeFolder(const fs::path& folder, const char* purpose, const char* remedy) {
  if (mkdir(folder.c_str(), 0700) == 0) return;
  throw EnvironmentError(
      fmt::format("cannot create a directory for the {} of kernel guests: {}: {}; {}", purpose,
                  folder.parent_path().string(), strerror(errno), remedy));
}

// Returns whether the path is a folder that belongs to this user; false for another user's folder
// and for a symbolic link.
bool IsOwnFolder(const fs::path& folder) {
  struct stat status;
  return lstat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
         status.st_uid == geteuid();
}

// Removes a folder. Returns the reason why the folder still exists; "" if it does not exist any
// more.
std::string RemoveFolder(const fs::path& folder) {
  std::error_code error;
  for (int i = 0; i < kTries && IsOwnFolder(folder); ++i) {
    fs::remove_all(folder, error);
    if (!error) return "";
    poll(nullptr, 0, kMillisecondsBetween);
  }
  return IsOwnFolder(folder) ? folder.string() + " cannot be removed: " + error.message() : "";
}

std::vector<std::string> Remove(const BootFolders& folders) {
  std::vector<std::string> problems;
  for (const fs::path& folder : {folders.path, folders.memory}) {
    if (const std::string problem = RemoveFolder(folder); !problem.empty()) {
      problems.push_back(problem);
    }
  }
  return problems.empty() ? Booting().Remove(folders) : problems;
}

BootFolders Record() {
  BootFolders folders;
  const std::string name = DrawName();
  folders.path = TemporaryFolder() / name;
  folders.memory = fs::path(kMemoryFolder) / name;
  static_cast<sys::RegistryEntry&>(folders) =
      Booting().Take({name,
                      geteuid(),
                      false,
                      {{"path", folders.path.string()}, {"memory", folders.memory.string()}}});
  return folders;
}

}  // namespace

void BootFolders::Read(const sys::RecordLines& lines) {
  path = lines.front().at("path").get<std::string>();
  memory = lines.front().at("memory").get<std::string>();
}

BootFolder::BootFolder()
    : folders_(Record()), guardian_([this](int connection) {
        sys::AwaitEnd(connection);
        Remove(folders_);
      }) {
  MakeFolder(folders_.path, "sockets", "set TMPDIR to another directory");
  MakeFolder(folders_.memory, "memory",
             "guests need a writable file system there for their memory");
}

std::vector<BootFolders> RemoveDeadBootFolders(std::vector<std::string>* problems) {
  return Booting().RemoveDead<BootFolders>(problems, Remove);
}

}  // namespace viaduct::guest
