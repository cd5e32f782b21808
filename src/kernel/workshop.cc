#include "kernel/workshop.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/file.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "kernel/tool.h"

namespace viaduct::kernel {
namespace {

namespace fs = std::filesystem;

constexpr int kPatienceMilliseconds = 200;

UniqueFd OpenLock(const fs::path& store) {
  std::error_code error;
  fs::create_directories(store, error);
  UniqueFd lock(open((store / ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!lock) {
    throw EnvironmentError(
        fmt::format("cannot write to {}: {}; VIADUCT_CACHE may name another place", store.string(),
                    std::strerror(errno)));
  }
  return lock;
}

}  // namespace

Workshop::Workshop(const fs::path& store, int cancel_fd, const std::function<void()>& waiting)
    : folder_(store / ".build"), lock_(OpenLock(store)) {
  for (bool told = false; flock(lock_.get(), LOCK_EX | LOCK_NB) != 0; told = true) {
    if (!told && waiting) waiting();
    pollfd cancelled{cancel_fd, POLLIN, 0};
    if (poll(&cancelled, 1, kPatienceMilliseconds) > 0) throw ToolCancelled();
  }
  fs::remove_all(folder_);
  fs::create_directory(folder_);
}

Workshop::~Workshop() {
  std::error_code none;
  fs::remove_all(folder_, none);
}

}  // namespace viaduct::kernel
