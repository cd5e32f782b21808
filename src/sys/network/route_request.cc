#include "sys/network/route_request.h"

#include <algorithm>

namespace viaduct::sys {
namespace {

constexpr uint32_t kLargestShortTable = 255;  // maximum of rtm_table; others need RTA_TABLE

int FlagsOf(RouteAction action) {
  switch (action) {
    case RouteAction::kCreate:
      return NLM_F_CREATE | NLM_F_EXCL;
    case RouteAction::kReplace:
      return NLM_F_CREATE | NLM_F_REPLACE;
    case RouteAction::kDelete:
      break;
  }
  return 0;
}

bool IsOnLink(const RouteEntry& route, const RouteHop& hop) {
  return hop.gateway && hop.ifindex != 0 && route.is_on_link;
}

rtmsg HeaderOf(bool is_delete, const RouteEntry& route) {
  const bool is_short = route.table != 0 && route.table <= kLargestShortTable;
  rtmsg header{};
  header.rtm_family = FamilyOf(route.destination.address);
  header.rtm_dst_len = static_cast<uint8_t>(route.destination.length);
  header.rtm_table = is_short ? static_cast<uint8_t>(route.table) : uint8_t{RT_TABLE_MAIN};
  header.rtm_protocol = route.protocol;
  header.rtm_type = RTN_UNICAST;
  if (is_delete) {
    header.rtm_scope = RT_SCOPE_NOWHERE;  // matches any scope
    return header;
  }
  const bool has_gateway =
      std::ranges::any_of(route.hops, [](const RouteHop& hop) { return hop.gateway.has_value(); });
  header.rtm_scope = has_gateway ? RT_SCOPE_UNIVERSE : RT_SCOPE_LINK;
  if (route.hops.size() == 1 && IsOnLink(route, route.hops.front())) {
    header.rtm_flags = RTNH_F_ONLINK;
  }
  return header;
}

// Appends a hop in the format of RTA_MULTIPATH: an rtnexthop and the attribute with the gateway.
void AppendHop(std::vector<char>& bytes, const RouteEntry& route, const RouteHop& hop) {
  const size_t length = hop.gateway ? static_cast<size_t>(hop.gateway->Length()) : 0;
  rtnexthop header{};
  header.rtnh_len = static_cast<uint16_t>(RTNH_LENGTH(hop.gateway ? RTA_SPACE(length) : 0));
  header.rtnh_flags = IsOnLink(route, hop) ? RTNH_F_ONLINK : 0;
  header.rtnh_ifindex = hop.ifindex;
  const auto append = [&](const void* data, size_t size) {
    const auto* start = static_cast<const char*>(data);
    bytes.insert(bytes.end(), start, start + size);
  };
  append(&header, sizeof header);
  if (!hop.gateway) return;
  const rtattr attribute{static_cast<uint16_t>(RTA_LENGTH(length)), RTA_GATEWAY};
  append(&attribute, sizeof attribute);
  append(hop.gateway->bytes.data(), length);
}

void PutHops(NetlinkMessage& message, const RouteEntry& route) {
  if (route.hops.size() == 1) {
    const RouteHop& hop = route.hops.front();
    if (hop.gateway) message.Put(RTA_GATEWAY, *hop.gateway);
    if (hop.ifindex != 0) message.PutU32(RTA_OIF, static_cast<uint32_t>(hop.ifindex));
  } else if (!route.hops.empty()) {
    std::vector<char> bytes;
    for (const RouteHop& hop : route.hops) AppendHop(bytes, route, hop);
    message.Put(RTA_MULTIPATH, bytes.data(), bytes.size());
  }
}

}  // namespace

NetlinkMessage RouteRequest(RouteAction action, const RouteEntry& route) {
  const bool is_delete = action == RouteAction::kDelete;
  NetlinkMessage message(is_delete ? RTM_DELROUTE : RTM_NEWROUTE, NLM_F_REQUEST | FlagsOf(action));
  message.AppendHeader(HeaderOf(is_delete, route));
  if (route.destination.length > 0) message.Put(RTA_DST, route.destination.address);
  PutHops(message, route);
  if (route.metric != 0) message.PutU32(RTA_PRIORITY, route.metric);
  if (route.table > kLargestShortTable) message.PutU32(RTA_TABLE, route.table);
  return message;
}

}  // namespace viaduct::sys
