#include "fib/kernel_routes.h"

#include <gtest/gtest.h>
#include <linux/rtnetlink.h>
#include <netlink/msg.h>

#include "fib/test_route.h"

namespace viaduct::fib {
namespace {

using test::MakeRoute;

const rtmsg& HeaderOf(const sys::NetlinkMessage& message) {
  return *static_cast<const rtmsg*>(nlmsg_data(nlmsg_hdr(message.get())));
}

nlattr* Find(const sys::NetlinkMessage& message, int attribute) {
  return nlmsg_find_attr(nlmsg_hdr(message.get()), sizeof(rtmsg), attribute);
}

TEST(RouteRequest, GatewayIsOnLinkAndOurs) {
  const auto message = RouteRequest(RouteAction::kCreate, MakeRoute("10.2.0.0/16", "10.1.0.1"), 5);
  EXPECT_EQ(nlmsg_hdr(message.get())->nlmsg_type, RTM_NEWROUTE);
  EXPECT_EQ(nlmsg_hdr(message.get())->nlmsg_flags & (NLM_F_CREATE | NLM_F_EXCL | NLM_F_REPLACE),
            NLM_F_CREATE | NLM_F_EXCL);
  EXPECT_EQ(HeaderOf(message).rtm_protocol, kRouteProtocol);
  EXPECT_EQ(HeaderOf(message).rtm_family, AF_INET);
  EXPECT_EQ(HeaderOf(message).rtm_dst_len, 16);
  EXPECT_TRUE(HeaderOf(message).rtm_flags & RTNH_F_ONLINK);
  ASSERT_NE(Find(message, RTA_GATEWAY), nullptr);
  EXPECT_EQ(nla_len(Find(message, RTA_GATEWAY)), 4);
  ASSERT_NE(Find(message, RTA_OIF), nullptr);
  EXPECT_EQ(nla_get_u32(Find(message, RTA_OIF)), 5u);
}

TEST(RouteRequest, DefaultRouteHasNoDestination) {
  const auto message = RouteRequest(RouteAction::kReplace, MakeRoute("::/0", "fe80::1"), 5);
  EXPECT_EQ(HeaderOf(message).rtm_family, AF_INET6);
  EXPECT_EQ(HeaderOf(message).rtm_dst_len, 0);
  EXPECT_EQ(Find(message, RTA_DST), nullptr);
  ASSERT_NE(Find(message, RTA_GATEWAY), nullptr);
  EXPECT_EQ(nla_len(Find(message, RTA_GATEWAY)), 16);
  EXPECT_TRUE(nlmsg_hdr(message.get())->nlmsg_flags & NLM_F_REPLACE);
}

TEST(RouteRequest, OnLinkRouteHasLinkScope) {
  const auto message = RouteRequest(RouteAction::kCreate, MakeRoute("10.2.0.1/32", ""), 5);
  EXPECT_EQ(HeaderOf(message).rtm_scope, RT_SCOPE_LINK);
  EXPECT_EQ(HeaderOf(message).rtm_flags, 0u);
  EXPECT_EQ(Find(message, RTA_GATEWAY), nullptr);
}

TEST(RouteRequest, RemovalNamesOurProtocol) {
  const auto message = RouteRequest(RouteAction::kDelete, MakeRoute("10.2.0.0/16", "10.1.0.1"), 5);
  EXPECT_EQ(nlmsg_hdr(message.get())->nlmsg_type, RTM_DELROUTE);
  EXPECT_EQ(HeaderOf(message).rtm_protocol, kRouteProtocol);
  EXPECT_EQ(HeaderOf(message).rtm_scope, RT_SCOPE_NOWHERE);
}

TEST(RouteError, NamesTheFirstRoutesAndCountsTheRest) {
  std::vector<RouteError::Failure> failures;
  for (int i = 1; i <= 5; ++i) {
    failures.push_back({MakeRoute("10.2.0." + std::to_string(i) + "/32", "10.1.0.1"), "no"});
  }
  const RouteError error(failures, 9);
  EXPECT_STREQ(error.what(),
               "5 of 9 routes refused: 10.2.0.1/32 via 10.1.0.1 dev eth0: no; "
               "10.2.0.2/32 via 10.1.0.1 dev eth0: no; 10.2.0.3/32 via 10.1.0.1 dev eth0: no; "
               "and 2 more");
}

}  // namespace
}  // namespace viaduct::fib
