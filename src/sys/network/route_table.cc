#include "sys/network/route_table.h"

#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "sys/network/netlink.h"

namespace viaduct::sys {

std::vector<wire::IpPrefix> RouteDestinations(Netlink& session, wire::Family family) {
  NetlinkMessage message(RTM_GETROUTE, NLM_F_DUMP);
  rtmsg wanted{};
  wanted.rtm_family = family == wire::Family::kIpv4 ? AF_INET : AF_INET6;
  message.AppendHeader(wanted);
  std::vector<wire::IpPrefix> destinations;
  session.socket().Query(message, "list routes", [&](const nlmsghdr* answer) {
    const auto* header = static_cast<const rtmsg*>(nlmsg_data(answer));
    if (header->rtm_type != RTN_UNICAST || header->rtm_family != wanted.rtm_family) return;
    std::array<nlattr*, RTA_MAX + 1> attributes{};
    nlmsg_parse(const_cast<nlmsghdr*>(answer), sizeof *header, attributes.data(), RTA_MAX, nullptr);
    wire::IpPrefix destination;
    destination.address.family = family;
    destination.length = header->rtm_dst_len;
    if (const nlattr* value = attributes[RTA_DST]) {  // a default route has no RTA_DST
      const auto length = std::min(nla_len(value), destination.address.Length());
      std::memcpy(destination.address.bytes.data(), nla_data(value), static_cast<size_t>(length));
    }
    destinations.push_back(destination);
  });
  return destinations;
}

}  // namespace viaduct::sys
