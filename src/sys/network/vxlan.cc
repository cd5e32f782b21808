#include "sys/network/vxlan.h"

#include <arpa/inet.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

namespace viaduct::sys {

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
  // The tunnel stays in the session's namespace, wherever the interface is (vxlan_newlink() of
  // drivers/net/vxlan/vxlan_core.c).
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
