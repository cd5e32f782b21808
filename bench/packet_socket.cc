#include "packet_socket.h"

#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>

#include "base/error.h"

namespace viaduct::bench {

int InterfaceIndex(const std::string& name) {
  const int index = static_cast<int>(if_nametoindex(name.c_str()));
  return SystemCall("if_nametoindex " + name, index == 0 ? -1 : index);
}

wire::MacAddress InterfaceMac(const std::string& name) {
  const UniqueFd fd(SystemCall("socket", socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)));
  ifreq request{};
  name.copy(request.ifr_name, IFNAMSIZ - 1);
  SystemCall("ioctl SIOCGIFHWADDR " + name, ioctl(fd.get(), SIOCGIFHWADDR, &request));
  wire::MacAddress mac;
  std::copy_n(reinterpret_cast<const uint8_t*>(request.ifr_hwaddr.sa_data), mac.bytes.size(),
              mac.bytes.begin());
  return mac;
}

UniqueFd OpenPacketSocket() {
  return UniqueFd(SystemCall("socket AF_PACKET", socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0)));
}

UniqueFd OpenBoundPacketSocket(const std::string& interface) {
  UniqueFd fd = OpenPacketSocket();
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_ifindex = InterfaceIndex(interface);
  address.sll_protocol = htons(ETH_P_ALL);
  SystemCall("bind packet socket " + interface,
             bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)));
  return fd;
}

}  // namespace viaduct::bench
