#include "sys/network/route_lookup.h"

#include <linux/fib_rules.h>
#include <linux/neighbour.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/rtnetlink.h>
#include <linux/xfrm.h>
#include <netlink/attr.h>
#include <netlink/msg.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <sstream>

#include "base/error.h"
#include "base/file.h"
#include "sys/network/netlink.h"
#include "sys/network/netns.h"

namespace viaduct::sys {
namespace {

constexpr int kRouteAttributes = 64;

wire::IpAddress AddressIn(const nlattr* attribute, wire::Family family) {
  wire::IpAddress address;
  address.family = family;
  const auto length = std::min(nla_len(attribute), address.Length());
  std::memcpy(address.bytes.data(), nla_data(attribute), static_cast<size_t>(length));
  return address;
}

std::optional<SimpleRoute> ReadRoute(const nlmsghdr* answer, const wire::IpAddress& destination) {
  const auto* header = static_cast<const rtmsg*>(nlmsg_data(answer));
  if (header->rtm_type != RTN_UNICAST ||
      (header->rtm_flags & (RTNH_F_DEAD | RTNH_F_LINKDOWN)) != 0) {
    return std::nullopt;
  }
  std::array<nlattr*, kRouteAttributes + 1> attributes{};
  nlmsg_parse(const_cast<nlmsghdr*>(answer), sizeof *header, attributes.data(), kRouteAttributes,
              nullptr);
  for (const int other : {RTA_MULTIPATH, RTA_METRICS, RTA_ENCAP, RTA_VIA, RTA_NH_ID}) {
    if (attributes[static_cast<size_t>(other)] != nullptr) return std::nullopt;
  }
  if (attributes[RTA_OIF] == nullptr) return std::nullopt;
  SimpleRoute route{static_cast<int>(nla_get_u32(attributes[RTA_OIF])), destination};
  if (const nlattr* gateway = attributes[RTA_GATEWAY]) {
    route.next_hop = AddressIn(gateway, destination.family);
  }
  return route;
}

// Sends the request and returns the content of the answer; nothing if the answer has no content (or
// if the kernel returns an error instead, as for "unreachable").
template <class Found>
std::optional<Found> Ask(Netlink& session, NetlinkMessage& message, const char* attempted,
                         const std::function<std::optional<Found>(const nlmsghdr*)>& read) {
  std::optional<Found> found;
  try {
    session.socket().Query(message, attempted,
                           [&](const nlmsghdr* answer) { found = read(answer); });
  } catch (const SystemError&) {
    return std::nullopt;
  }
  return found;
}

}  // namespace

std::optional<SimpleRoute> FindSimpleRoute(Netlink& session, const wire::IpAddress& destination,
                                           uint8_t tos) {
  NetlinkMessage message(RTM_GETROUTE, 0);
  rtmsg header{};
  header.rtm_family = FamilyOf(destination);
  header.rtm_dst_len = static_cast<uint8_t>(destination.Length() * 8);
  header.rtm_flags = RTM_F_FIB_MATCH;
  header.rtm_tos = tos;
  message.AppendHeader(header);
  message.Put(RTA_DST, destination);
  return Ask<SimpleRoute>(session, message, "look up a route",
                          [&](const nlmsghdr* answer) { return ReadRoute(answer, destination); });
}

bool HasException(Netlink& session, const wire::IpAddress& destination) {
  NetlinkMessage message(RTM_GETROUTE, 0);
  rtmsg header{};
  header.rtm_family = FamilyOf(destination);
  header.rtm_dst_len = static_cast<uint8_t>(destination.Length() * 8);
  message.AppendHeader(header);
  message.Put(RTA_DST, destination);
  return Ask<bool>(session, message, "look up a route's exceptions",
                   [](const nlmsghdr* answer) -> std::optional<bool> {
                     const auto* header = static_cast<const rtmsg*>(nlmsg_data(answer));
                     return (header->rtm_flags & RTM_F_CLONED) != 0;
                   })
      .value_or(false);
}

uint64_t CountExceptions(int namespace_fd) {
  const NamespaceScope scope(namespace_fd);
  std::istringstream words(ReadFile("/proc/thread-self/net/rt6_stats"));
  uint64_t count = 0;
  for (int i = 0; i < 5; ++i) words >> std::hex >> count;
  return count;
}

std::optional<wire::MacAddress> FindNeighbour(Netlink& session, int ifindex,
                                              const wire::IpAddress& address) {
  constexpr uint16_t kValid = NUD_PERMANENT | NUD_REACHABLE | NUD_STALE | NUD_DELAY | NUD_PROBE;
  NetlinkMessage message(RTM_GETNEIGH, 0);
  ndmsg header{};
  header.ndm_family = FamilyOf(address);
  header.ndm_ifindex = ifindex;
  message.AppendHeader(header);
  message.Put(NDA_DST, address);
  return Ask<wire::MacAddress>(session, message, "look up a neighbour",
                               [](const nlmsghdr* answer) -> std::optional<wire::MacAddress> {
                                 const auto* neighbour =
                                     static_cast<const ndmsg*>(nlmsg_data(answer));
                                 const nlattr* value = nlmsg_find_attr(
                                     const_cast<nlmsghdr*>(answer), sizeof *neighbour, NDA_LLADDR);
                                 wire::MacAddress mac;
                                 if ((neighbour->ndm_state & kValid) == 0 || value == nullptr ||
                                     nla_len(value) != static_cast<int>(mac.bytes.size())) {
                                   return std::nullopt;
                                 }
                                 std::memcpy(mac.bytes.data(), nla_data(value), mac.bytes.size());
                                 return mac;
                               });
}

bool HasDefaultRules(Netlink& session, wire::Family family) {
  // The priorities of the rules of a new namespace, for the tables local, main and default.
  constexpr std::array<uint32_t, 3> kDefault = {0, 32766, 32767};
  NetlinkMessage message(RTM_GETRULE, NLM_F_DUMP);
  fib_rule_hdr header{};
  header.family = family == wire::Family::kIpv4 ? AF_INET : AF_INET6;
  message.AppendHeader(header);
  bool only_default = true;
  session.socket().Query(message, "list rules", [&](const nlmsghdr* answer) {
    const nlattr* value =
        nlmsg_find_attr(const_cast<nlmsghdr*>(answer), sizeof(fib_rule_hdr), FRA_PRIORITY);
    const uint32_t priority = value == nullptr ? 0 : nla_get_u32(value);
    only_default = only_default && std::ranges::find(kDefault, priority) != kDefault.end();
  });
  return only_default;
}

namespace {

// Whether a list of packet rules in the kernel has entries. False if the kernel does not support
// this kind of list.
bool HasEntries(int namespace_fd, int netlink_family, NetlinkMessage& query) {
  bool any = false;
  try {
    NetlinkSocket(namespace_fd, netlink_family)
        .Query(query, "list nftables tables and IPsec policies",
               [&](const nlmsghdr*) { any = true; });
  } catch (const SystemError&) {
    return any;
  }
  return any;
}

}  // namespace

bool HasPacketRules(int namespace_fd) {
  NetlinkMessage tables((NFNL_SUBSYS_NFTABLES << 8) | NFT_MSG_GETTABLE, NLM_F_DUMP);
  tables.AppendHeader(nfgenmsg{});
  NetlinkMessage policies(XFRM_MSG_GETPOLICY, NLM_F_DUMP);
  policies.AppendHeader(xfrm_userpolicy_id{});
  return HasEntries(namespace_fd, NETLINK_NETFILTER, tables) ||
         HasEntries(namespace_fd, NETLINK_XFRM, policies);
}

}  // namespace viaduct::sys
