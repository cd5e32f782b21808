#include "sys/descriptors.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <string>

#include "base/error.h"

namespace viaduct::sys {
namespace {

void CloseRange(unsigned first, unsigned last) {
  if (first > last) return;
  // Calls close_range(2) by its number, because C libraries before glibc 2.34 have no function for
  // it.
  SystemCall("close_range", static_cast<int>(syscall(SYS_close_range, first, last, 0U)));
}

}  // namespace

Pipe MakePipe() {
  std::array<int, 2> ends;
  SystemCall("pipe", pipe2(ends.data(), O_CLOEXEC));
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

UniqueFd Duplicate(int fd) {
  return UniqueFd(SystemCall("duplicate a descriptor", fcntl(fd, F_DUPFD_CLOEXEC, 0)));
}

std::pair<UniqueFd, UniqueFd> MakeSocketPair(int type) {
  std::array<int, 2> ends;
  SystemCall("socketpair", socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends.data()));
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

void SetNonBlocking(int fd) {
  const int flags = SystemCall("fcntl F_GETFL", fcntl(fd, F_GETFL));
  SystemCall("fcntl F_SETFL", fcntl(fd, F_SETFL, flags | O_NONBLOCK));
}

void DropStandardStreams() {
  const int null = SystemCall("open /dev/null", open("/dev/null", O_RDWR));
  for (int fd = 0; fd < 3; ++fd) SystemCall("dup2", dup2(null, fd));
  if (null > 2) close(null);
}

void CloseAllBut(std::vector<int> keep) {
  std::sort(keep.begin(), keep.end());
  unsigned next = 3;
  for (const int fd : keep) {
    if (fd < 3) continue;
    CloseRange(next, static_cast<unsigned>(fd) - 1);
    next = static_cast<unsigned>(fd) + 1;
  }
  CloseRange(next, ~0U);
}

void CloseInherited() {
  std::vector<int> inherited;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const std::string name = entry.path().filename();
    int fd = -1;
    std::from_chars(name.data(), name.data() + name.size(), fd);
    const int flags = fd > 2 ? fcntl(fd, F_GETFD) : -1;
    if (flags >= 0 && (flags & FD_CLOEXEC) == 0) inherited.push_back(fd);
  }
  for (const int fd : inherited) close(fd);
}

}  // namespace viaduct::sys
