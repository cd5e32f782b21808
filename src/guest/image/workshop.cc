#include "guest/image/workshop.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "guest/image/tool.h"

namespace viaduct::guest {
namespace {

namespace fs = std::filesystem;

constexpr int kTimeoutMilliseconds = 200;
constexpr const char* kWorkshopPrefix = ".build-";

// Locks a folder, which is created if necessary. Returns an empty descriptor while another process
// holds the lock, or if another process has just removed the folder.
UniqueFd LockFolder(const fs::path& folder) {
  mkdir(folder.c_str(), 0755);
  UniqueFd lock(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!lock || flock(lock.get(), LOCK_EX | LOCK_NB) != 0) return {};
  struct stat ours, there;
  const bool same = fstat(lock.get(), &ours) == 0 && stat(folder.c_str(), &there) == 0 &&
                    ours.st_ino == there.st_ino;
  return same ? std::move(lock) : UniqueFd();
}

void MakeStore(const fs::path& store) {
  std::error_code error;
  fs::create_directories(store, error);
  if (access(store.c_str(), W_OK) == 0) return;
  throw EnvironmentError(
      fmt::format("cannot write to {}: {}; set VIADUCT_CACHE to another directory", store.string(),
                  std::strerror(errno)));
}

void RemoveAbandoned(const fs::path& store) {
  std::error_code none;
  for (const fs::directory_entry& entry : fs::directory_iterator(store, none)) {
    if (entry.path().filename().string().rfind(kWorkshopPrefix, 0) != 0) continue;
    if (const UniqueFd lock = LockFolder(entry.path())) fs::remove_all(entry.path(), none);
  }
}

}  // namespace

Workshop::Workshop(const fs::path& store, const std::string& key, int cancel_fd,
                   const std::function<void()>& waiting)
    : folder_(store / (kWorkshopPrefix + key)) {
  MakeStore(store);
  RemoveAbandoned(store);
  for (bool told = false; !(lock_ = LockFolder(folder_)); told = true) {
    if (!told && waiting) waiting();
    pollfd cancelled{cancel_fd, POLLIN, 0};
    if (poll(&cancelled, 1, kTimeoutMilliseconds) > 0) throw ToolCancelled();
  }
}

Workshop::~Workshop() {
  std::error_code none;
  fs::remove_all(folder_, none);
}

}  // namespace viaduct::guest
