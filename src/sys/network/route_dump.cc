#include "sys/network/route_dump.h"

#include <netlink/attr.h>
#include <netlink/msg.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <set>

#include "base/error.h"

namespace viaduct::sys {
namespace {

using RouteAttributes = std::array<nlattr*, RTA_MAX + 1>;

std::optional<wire::IpAddress> AddressOf(const nlattr* attribute, uint8_t family) {
  wire::IpAddress address;
  if (family == AF_INET6) address.family = wire::Family::kIpv6;
  if (attribute == nullptr || nla_len(attribute) != address.Length()) return std::nullopt;
  std::memcpy(address.bytes.data(), nla_data(attribute), static_cast<size_t>(address.Length()));
  return address;
}

uint32_t NumberOr(const nlattr* attribute, uint32_t otherwise) {
  return attribute == nullptr || nla_len(attribute) != 4 ? otherwise : nla_get_u32(attribute);
}

std::vector<RouteHop> HopsOf(const nlattr* multipath, uint8_t family) {
  std::vector<RouteHop> hops;
  auto* hop = static_cast<const rtnexthop*>(nla_data(multipath));
  for (int left = nla_len(multipath); RTNH_OK(hop, left);
       left -= RTNH_ALIGN(hop->rtnh_len), hop = RTNH_NEXT(hop)) {
    if ((hop->rtnh_flags & RTNH_F_DEAD) != 0) continue;
    const nlattr* gateway = nla_find(reinterpret_cast<const nlattr*>(RTNH_DATA(hop)),
                                     hop->rtnh_len - static_cast<int>(sizeof *hop), RTA_GATEWAY);
    hops.push_back({AddressOf(gateway, family), hop->rtnh_ifindex});
  }
  return hops;
}

std::vector<RouteHop> HopsOf(const rtmsg& header, const RouteAttributes& attributes) {
  if (attributes[RTA_MULTIPATH] != nullptr) {
    return HopsOf(attributes[RTA_MULTIPATH], header.rtm_family);
  }
  const uint32_t ifindex = NumberOr(attributes[RTA_OIF], 0);
  if (ifindex == 0 || (header.rtm_flags & RTNH_F_DEAD) != 0) return {};
  return {{AddressOf(attributes[RTA_GATEWAY], header.rtm_family), static_cast<int>(ifindex)}};
}

std::optional<DumpedRoute> ParseRoute(const nlmsghdr* message) {
  RouteAttributes attributes{};
  if (nlmsg_parse(const_cast<nlmsghdr*>(message), sizeof(rtmsg), attributes.data(), RTA_MAX,
                  nullptr) < 0) {
    throw Error("malformed route message from the kernel");
  }
  const auto& header = *static_cast<const rtmsg*>(nlmsg_data(message));
  const bool is_ip = header.rtm_family == AF_INET || header.rtm_family == AF_INET6;
  if (!is_ip || (header.rtm_flags & RTM_F_CLONED) != 0) return std::nullopt;
  DumpedRoute route;
  if (header.rtm_family == AF_INET6) route.destination.address.family = wire::Family::kIpv6;
  if (const auto address = AddressOf(attributes[RTA_DST], header.rtm_family)) {
    route.destination.address = *address;
  }
  route.destination.length = header.rtm_dst_len;
  route.type = header.rtm_type;
  route.protocol = header.rtm_protocol;
  route.table = NumberOr(attributes[RTA_TABLE], header.rtm_table);
  route.metric = NumberOr(attributes[RTA_PRIORITY], 0);
  route.hops = HopsOf(header, attributes);
  return route;
}

}  // namespace

std::vector<DumpedRoute> DumpRoutes(NetlinkSocket& socket) {
  NetlinkMessage query(RTM_GETROUTE, NLM_F_DUMP);
  query.AppendHeader(rtmsg{});
  std::vector<DumpedRoute> routes;
  socket.Query(query, "list routes", [&](const nlmsghdr* answer) {
    if (auto route = ParseRoute(answer)) routes.push_back(*std::move(route));
  });
  return routes;
}

std::optional<DumpedRoute> LookUpRoute(NetlinkSocket& socket, const wire::IpAddress& destination) {
  NetlinkMessage query(RTM_GETROUTE, 0);
  rtmsg header{};
  header.rtm_family = FamilyOf(destination);
  header.rtm_dst_len = static_cast<uint8_t>(destination.Length() * 8);
  header.rtm_flags = RTM_F_FIB_MATCH;
  query.AppendHeader(header);
  query.Put(RTA_DST, destination);
  std::optional<DumpedRoute> route;
  try {
    socket.Query(query, "look up a route",
                 [&](const nlmsghdr* answer) { route = ParseRoute(answer); });
  } catch (const SystemError& error) {
    const std::set<int> none = {ENETUNREACH, EHOSTUNREACH, EACCES, EINVAL, ESRCH};
    if (!none.contains(error.error_number())) throw;
  }
  return route;
}

}  // namespace viaduct::sys
