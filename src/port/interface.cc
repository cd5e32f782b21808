#include "port/interface.h"

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>

#include "base/error.h"

namespace viaduct::io {
namespace {

// Prepares the request of an ioctl about an interface, with the interface's current name. Returns
// false if there is no such interface.
bool Name(int fd, int ifindex, ifreq* request) {
  *request = {};
  request->ifr_ifindex = ifindex;
  return ioctl(fd, SIOCGIFNAME, request) == 0;
}

}  // namespace

uint32_t InterfaceMtu(int fd, int ifindex) {
  ifreq request{};
  request.ifr_ifindex = ifindex;
  SystemCall("ioctl SIOCGIFNAME", ioctl(fd, SIOCGIFNAME, &request));
  SystemCall("ioctl SIOCGIFMTU", ioctl(fd, SIOCGIFMTU, &request));
  return static_cast<uint32_t>(request.ifr_mtu);
}

uint32_t InterfaceMtuNow(int fd, int ifindex) {
  ifreq request;
  if (!Name(fd, ifindex, &request) || ioctl(fd, SIOCGIFMTU, &request) != 0) return 0;
  return static_cast<uint32_t>(request.ifr_mtu);
}

bool InterfaceHasCarrier(int fd, int ifindex) {
  ifreq request;
  if (!Name(fd, ifindex, &request)) return false;
  ethtool_value link{ETHTOOL_GLINK, 0};
  request.ifr_data = reinterpret_cast<char*>(&link);
  return ioctl(fd, SIOCETHTOOL, &request) != 0 || link.data != 0;
}

bool InterfaceIsUp(int fd, int ifindex) {
  ifreq request;
  if (!Name(fd, ifindex, &request) || ioctl(fd, SIOCGIFFLAGS, &request) != 0) return false;
  return (request.ifr_flags & IFF_UP) != 0 && InterfaceHasCarrier(fd, ifindex);
}

}  // namespace viaduct::io
