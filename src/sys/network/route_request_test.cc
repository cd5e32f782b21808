#include "sys/network/route_request.h"

#include <gtest/gtest.h>
#include <netlink/msg.h>

namespace viaduct::sys {
namespace {

// By interface 5; "" for `gateway` means none.
RouteEntry MakeEntry(const char* destination, const std::string& gateway) {
  RouteEntry entry{
      .destination = wire::IpPrefix::Parse(destination), .ifindex = 5, .protocol = 155};
  if (!gateway.empty()) entry.gateway = wire::IpAddress::Parse(gateway);
  return entry;
}

const rtmsg& HeaderOf(const NetlinkMessage& message) {
  return *static_cast<const rtmsg*>(nlmsg_data(nlmsg_hdr(message.get())));
}

nlattr* Find(const NetlinkMessage& message, int attribute) {
  return nlmsg_find_attr(nlmsg_hdr(message.get()), sizeof(rtmsg), attribute);
}

TEST(RouteRequest, GatewayIsOnLinkAndOurs) {
  const auto message = RouteRequest(RouteAction::kCreate, MakeEntry("10.2.0.0/16", "10.1.0.1"));
  EXPECT_EQ(nlmsg_hdr(message.get())->nlmsg_type, RTM_NEWROUTE);
  EXPECT_EQ(nlmsg_hdr(message.get())->nlmsg_flags & (NLM_F_CREATE | NLM_F_EXCL | NLM_F_REPLACE),
            NLM_F_CREATE | NLM_F_EXCL);
  EXPECT_EQ(HeaderOf(message).rtm_protocol, 155);
  EXPECT_EQ(HeaderOf(message).rtm_family, AF_INET);
  EXPECT_EQ(HeaderOf(message).rtm_dst_len, 16);
  EXPECT_TRUE(HeaderOf(message).rtm_flags & RTNH_F_ONLINK);
  ASSERT_NE(Find(message, RTA_GATEWAY), nullptr);
  EXPECT_EQ(nla_len(Find(message, RTA_GATEWAY)), 4);
  ASSERT_NE(Find(message, RTA_OIF), nullptr);
  EXPECT_EQ(nla_get_u32(Find(message, RTA_OIF)), 5u);
}

TEST(RouteRequest, DefaultRouteHasNoDestination) {
  const auto message = RouteRequest(RouteAction::kReplace, MakeEntry("::/0", "fe80::1"));
  EXPECT_EQ(HeaderOf(message).rtm_family, AF_INET6);
  EXPECT_EQ(HeaderOf(message).rtm_dst_len, 0);
  EXPECT_EQ(Find(message, RTA_DST), nullptr);
  ASSERT_NE(Find(message, RTA_GATEWAY), nullptr);
  EXPECT_EQ(nla_len(Find(message, RTA_GATEWAY)), 16);
  EXPECT_TRUE(nlmsg_hdr(message.get())->nlmsg_flags & NLM_F_REPLACE);
}

TEST(RouteRequest, OnLinkRouteHasLinkScope) {
  const auto message = RouteRequest(RouteAction::kCreate, MakeEntry("10.2.0.1/32", ""));
  EXPECT_EQ(HeaderOf(message).rtm_scope, RT_SCOPE_LINK);
  EXPECT_EQ(HeaderOf(message).rtm_flags, 0u);
  EXPECT_EQ(Find(message, RTA_GATEWAY), nullptr);
}

TEST(RouteRequest, RemovalNamesOurProtocol) {
  const auto message = RouteRequest(RouteAction::kDelete, MakeEntry("10.2.0.0/16", "10.1.0.1"));
  EXPECT_EQ(nlmsg_hdr(message.get())->nlmsg_type, RTM_DELROUTE);
  EXPECT_EQ(HeaderOf(message).rtm_protocol, 155);
  EXPECT_EQ(HeaderOf(message).rtm_scope, RT_SCOPE_NOWHERE);
}

TEST(RouteRequest, LargeTablesNeedAnAttribute) {
  RouteEntry entry = MakeEntry("10.2.0.0/16", "");
  entry.table = 200;
  EXPECT_EQ(HeaderOf(RouteRequest(RouteAction::kCreate, entry)).rtm_table, 200);
  entry.table = 1000;
  const auto message = RouteRequest(RouteAction::kCreate, entry);
  ASSERT_NE(Find(message, RTA_TABLE), nullptr);
  EXPECT_EQ(nla_get_u32(Find(message, RTA_TABLE)), 1000u);
}

TEST(RouteRequest, AGatewayIsOnLinkOnlyOfAnInterfaceAndWhereAsked) {
  RouteEntry entry = MakeEntry("10.2.0.0/16", "10.1.0.1");
  entry.is_on_link = false;
  EXPECT_EQ(HeaderOf(RouteRequest(RouteAction::kCreate, entry)).rtm_flags, 0u);
  entry.is_on_link = true;
  entry.ifindex = 0;
  EXPECT_EQ(HeaderOf(RouteRequest(RouteAction::kCreate, entry)).rtm_flags, 0u);
}

}  // namespace
}  // namespace viaduct::sys
