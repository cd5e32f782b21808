#include "port/dpdk/driver/descriptors.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <sys/socket.h>

#include <cstdlib>
#include <memory>

namespace viaduct::dpdk {
namespace {

// Returns all open file descriptors of this process.
std::set<int> Open() {
  std::set<int> open;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir("/proc/self/fd"), closedir);
  if (!folder) return open;
  while (const dirent* const entry = readdir(folder.get())) {
    if (entry->d_name[0] == '.') continue;
    const int fd = std::atoi(entry->d_name);
    if (fd != dirfd(folder.get())) open.insert(fd);
  }
  return open;
}

bool IsPacketSocketOf(int fd, int ifindex) {
  sockaddr_ll address{};
  socklen_t length = sizeof address;
  return getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) == 0 &&
         address.sll_family == AF_PACKET && address.sll_ifindex == ifindex;
}

}  // namespace

NewDescriptors::NewDescriptors() : before_(Open()) {}

std::set<int> NewDescriptors::Present() const {
  std::set<int> present = Open();
  for (const int fd : before_) present.erase(fd);
  return present;
}

void NewDescriptors::CloseOnExec() const {
  for (const int fd : Present()) fcntl(fd, F_SETFD, FD_CLOEXEC);
}

int NewDescriptors::PacketSocketOf(int ifindex) const {
  for (const int fd : Present()) {
    if (IsPacketSocketOf(fd, ifindex)) return fd;
  }
  return -1;
}

}  // namespace viaduct::dpdk
