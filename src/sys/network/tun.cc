#include "sys/network/tun.h"

#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "sys/network/link.h"
#include "sys/network/netns.h"

namespace viaduct::sys {
namespace {

// Returns a descriptor that has no device yet, and the request for a device of this name.
UniqueFd OpenClone(const std::string& name, ifreq* request) {
  if (name.empty() || name.size() >= IFNAMSIZ) {
    throw UsageError("TUN device name \"" + name + "\" must have 1 to 15 characters");
  }
  *request = {};
  std::memcpy(request->ifr_name, name.data(), name.size());
  UniqueFd fd(open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK));
  if (!fd && (errno == ENOENT || errno == ENODEV || errno == ENXIO)) {
    throw EnvironmentError(
        "TUN device " + name +
        ": this kernel does not support TUN (/dev/net/tun); load the module tun or enable "
        "CONFIG_TUN");
  }
  SystemCall("open /dev/net/tun", fd.get());
  return fd;
}

UniqueFd Attach(int namespace_fd, const std::string& name) {
  NamespaceScope scope(namespace_fd);
  ifreq request;
  UniqueFd fd = OpenClone(name, &request);
  request.ifr_flags = IFF_TUN | IFF_NO_PI;
  SystemCall("attach to TUN device " + name, ioctl(fd.get(), TUNSETIFF, &request));
  return fd;
}

}  // namespace

void CreateTun(int namespace_fd, const std::string& name) {
  const UniqueFd fd = Attach(namespace_fd, name);
  SystemCall("ioctl TUNSETPERSIST of TUN device " + name, ioctl(fd.get(), TUNSETPERSIST, 1));
}

UniqueFd OpenTun(int namespace_fd, const std::string& name) {
  UniqueFd fd = Attach(namespace_fd, name);
  // Waits until the kernel has processed the carrier that the device gets by attaching; packets
  // sent before that are lost.
  Netlink session(namespace_fd);
  if (session.GetLink(name).up) session.AwaitRunning(name, Duration::Seconds(2));
  return fd;
}

std::vector<UniqueFd> OpenTap(const std::string& name, int queues) {
  std::vector<UniqueFd> opened;
  for (int i = 0; i < queues; ++i) {
    ifreq request;
    UniqueFd fd = OpenClone(name, &request);
    request.ifr_flags =
        static_cast<short>(IFF_TAP | IFF_NO_PI | IFF_VNET_HDR | (queues > 1 ? IFF_MULTI_QUEUE : 0));
    if (ioctl(fd.get(), TUNSETIFF, &request) != 0) {
      const std::string what = "TAP device " + name + ": ";
      if (errno == EBUSY) throw UsageError(what + "another program uses the device");
      if (errno == EINVAL && i == 0) {
        throw UsageError(what +
                         "an interface with this name exists, but is not a TAP device with " +
                         (queues > 1 ? "multiple queues (`ip tuntap add NAME mode tap multi_queue`)"
                                     : "one queue (`ip tuntap add NAME mode tap`)"));
      }
      throw SystemError("attach to TAP device " + name, errno);
    }
    // Sets the size of the header, because an earlier user of a persistent device (QEMU) may have
    // set another size.
    int header = 10;  // bytes: sizeof(struct virtio_net_hdr)
    SystemCall("ioctl TUNSETVNETHDRSZ of TAP device " + name,
               ioctl(fd.get(), TUNSETVNETHDRSZ, &header));
    SystemCall(
        "ioctl TUNSETOFFLOAD of TAP device " + name,
        ioctl(fd.get(), TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6 | TUN_F_TSO_ECN));
    opened.push_back(std::move(fd));
  }
  return opened;
}

uint64_t TapDrops(int namespace_fd, int ifindex) {
  const auto link = Netlink(namespace_fd).FindLink(ifindex);
  return link ? link->counters.tx_dropped : 0;
}

void RemoveTap(int namespace_fd, int ifindex) {
  Netlink session(namespace_fd);
  const auto link = session.FindLink(ifindex);
  if (link && link->kind == "tun") session.DeleteLink(ifindex);
}

void ResetTap(int namespace_fd, int ifindex) {
  NamespaceScope scope(namespace_fd);
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    const auto link = Netlink().FindLink(ifindex);
    if (!link || link->kind != "tun") return;
    try {
      for (const UniqueFd& device : OpenTap(link->name, 1)) {
        SystemCall("ioctl TUNSETOFFLOAD", ioctl(device.get(), TUNSETOFFLOAD, 0));
      }
      return;
    } catch (const UsageError&) {
      usleep(10000);  // another process has the device open: its reader is about to end
    }
  }
}

}  // namespace viaduct::sys
