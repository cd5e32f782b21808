#include "sys/network/route_request.h"

namespace viaduct::sys {
namespace {

constexpr uint32_t kLargestShortTable = 255;  // what rtm_table holds; others need RTA_TABLE

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

rtmsg HeaderOf(bool is_delete, const RouteEntry& route) {
  const bool is_short = route.table != 0 && route.table <= kLargestShortTable;
  rtmsg header{};
  header.rtm_family = FamilyOf(route.destination.address);
  header.rtm_dst_len = static_cast<uint8_t>(route.destination.length);
  header.rtm_table = is_short ? static_cast<uint8_t>(route.table) : uint8_t{RT_TABLE_MAIN};
  header.rtm_protocol = route.protocol;
  header.rtm_type = RTN_UNICAST;
  if (is_delete) {
    header.rtm_scope = RT_SCOPE_NOWHERE;  // any scope
    return header;
  }
  header.rtm_scope = route.gateway ? RT_SCOPE_UNIVERSE : RT_SCOPE_LINK;
  if (route.gateway && route.is_on_link && route.ifindex != 0) header.rtm_flags = RTNH_F_ONLINK;
  return header;
}

}  // namespace

NetlinkMessage RouteRequest(RouteAction action, const RouteEntry& route) {
  const bool is_delete = action == RouteAction::kDelete;
  NetlinkMessage message(is_delete ? RTM_DELROUTE : RTM_NEWROUTE, NLM_F_REQUEST | FlagsOf(action));
  message.AppendHeader(HeaderOf(is_delete, route));
  if (route.destination.length > 0) message.Put(RTA_DST, route.destination.address);
  if (route.gateway) message.Put(RTA_GATEWAY, *route.gateway);
  if (route.ifindex != 0) message.PutU32(RTA_OIF, static_cast<uint32_t>(route.ifindex));
  if (route.metric != 0) message.PutU32(RTA_PRIORITY, route.metric);
  if (route.table > kLargestShortTable) message.PutU32(RTA_TABLE, route.table);
  return message;
}

}  // namespace viaduct::sys
