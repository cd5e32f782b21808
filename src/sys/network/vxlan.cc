#include "sys/network/vxlan.h"

#include <arpa/inet.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <cstring>

#include "base/error.h"
#include "base/fd.h"

namespace viaduct::sys {

int PathMtu(const wire::IpAddress& address) {
  const bool ipv4 = address.family == wire::Family::kIpv4;
  const UniqueFd socket(
      SystemCall("socket", ::socket(ipv4 ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0)));
  sockaddr_storage to{};
  to.ss_family = ipv4 ? AF_INET : AF_INET6;
  constexpr uint16_t kAnyPort = 9;  // an arbitrary port: no datagram is sent to it
  if (ipv4) {
    auto& place = reinterpret_cast<sockaddr_in&>(to);
    place.sin_port = htons(kAnyPort);
    std::memcpy(&place.sin_addr, address.bytes.data(), sizeof place.sin_addr);
  } else {
    auto& place = reinterpret_cast<sockaddr_in6&>(to);
    place.sin6_port = htons(kAnyPort);
    std::memcpy(&place.sin6_addr, address.bytes.data(), sizeof place.sin6_addr);
  }
  SystemCall("connect to " + address.ToString(),
             connect(socket.get(), reinterpret_cast<sockaddr*>(&to),
                     ipv4 ? sizeof(sockaddr_in) : sizeof(sockaddr_in6)));
  int mtu = 0;
  socklen_t length = sizeof mtu;
  SystemCall("getsockopt", getsockopt(socket.get(), ipv4 ? IPPROTO_IP : IPPROTO_IPV6,
                                      ipv4 ? IP_MTU : IPV6_MTU, &mtu, &length));
  return mtu;
}

void CreateVxlan(Netlink& session, const VxlanLink& link) {
  const bool ipv4 = link.remote.family == wire::Family::kIpv4;
  ifinfomsg header{};
  header.ifi_family = AF_UNSPEC;
  header.ifi_index = link.ifindex;
  NetlinkMessage message(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
  message.AppendHeader(header);
  message.Put(IFLA_IFNAME, link.name);
  message.PutU32(IFLA_MTU, static_cast<uint32_t>(link.mtu));
  if (link.mac != wire::MacAddress()) {
    message.Put(IFLA_ADDRESS, link.mac.bytes.data(), link.mac.bytes.size());
  }
  // Moves only the interface: the tunnel's socket stays in the session's namespace (vxlan_newlink()
  // of drivers/net/vxlan/vxlan_core.c).
  if (link.namespace_fd >= 0) {
    message.PutU32(IFLA_NET_NS_FD, static_cast<uint32_t>(link.namespace_fd));
  }
  message.Nest(IFLA_LINKINFO, [&] {
    message.Put(IFLA_INFO_KIND, "vxlan");
    message.Nest(IFLA_INFO_DATA, [&] {
      message.PutU32(IFLA_VXLAN_ID, link.vni);
      message.Put(ipv4 ? IFLA_VXLAN_GROUP : IFLA_VXLAN_GROUP6, link.remote);
      message.PutU16(IFLA_VXLAN_PORT, htons(link.port));
      message.PutU8(IFLA_VXLAN_LEARNING, 0);
      message.PutU8(IFLA_VXLAN_UDP_CSUM, 1);
      message.PutU8(IFLA_VXLAN_UDP_ZERO_CSUM6_TX, 0);
      message.PutU8(IFLA_VXLAN_UDP_ZERO_CSUM6_RX, 0);
    });
  });
  session.socket().Request(message, "create VXLAN interface " + link.name);
}

}  // namespace viaduct::sys
