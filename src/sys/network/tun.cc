#include "sys/network/tun.h"

#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <sys/ioctl.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "sys/network/link.h"
#include "sys/network/netns.h"

namespace viaduct::sys {
namespace {

UniqueFd Attach(int namespace_fd, const std::string& name) {
  if (name.empty() || name.size() >= IFNAMSIZ) {
    throw UsageError("TUN device name \"" + name + "\": 1 to 15 characters");
  }
  NamespaceScope scope(namespace_fd);
  UniqueFd fd(open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK));
  if (!fd && (errno == ENOENT || errno == ENODEV || errno == ENXIO)) {
    throw EnvironmentError("TUN device " + name +
                           ": this kernel has no TUN (/dev/net/tun); load the module tun or enable "
                           "CONFIG_TUN");
  }
  SystemCall("open /dev/net/tun", fd.get());
  ifreq request{};
  std::memcpy(request.ifr_name, name.data(), name.size());
  request.ifr_flags = IFF_TUN | IFF_NO_PI;
  SystemCall("attach to TUN device " + name, ioctl(fd.get(), TUNSETIFF, &request));
  return fd;
}

}  // namespace

void CreateTun(int namespace_fd, const std::string& name) {
  const UniqueFd fd = Attach(namespace_fd, name);
  SystemCall("keep TUN device " + name, ioctl(fd.get(), TUNSETPERSIST, 1));
}

UniqueFd OpenTun(int namespace_fd, const std::string& name) {
  UniqueFd fd = Attach(namespace_fd, name);
  // Attaching gives the device a carrier; packets sent before the kernel has processed that are
  // lost.
  Netlink session(namespace_fd);
  if (session.GetLink(name).up) session.AwaitRunning(name, Duration::Seconds(2));
  return fd;
}

}  // namespace viaduct::sys
