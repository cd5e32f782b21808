#include "sys/network/route_request.h"

#include <gtest/gtest.h>
#include <netlink/msg.h>

#include <cstring>
#include <string>
#include <vector>

namespace viaduct::sys {
namespace {

// Makes a hop; "" for `gateway` means none.
RouteHop MakeHop(const std::string& gateway, int ifindex) {
  RouteHop hop{.ifindex = ifindex};
  if (!gateway.empty()) hop.gateway = wire::IpAddress::Parse(gateway);
  return hop;
}

// Makes a route through interface 5.
RouteEntry MakeEntry(const char* destination, const std::string& gateway) {
  return {.destination = wire::IpPrefix::Parse(destination),
          .hops = {MakeHop(gateway, 5)},
          .protocol = 155};
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
  entry.hops[0].ifindex = 0;
  EXPECT_EQ(HeaderOf(RouteRequest(RouteAction::kCreate, entry)).rtm_flags, 0u);
}

// Returns "GATEWAY/IFINDEX/FLAGS" of every next hop in RTA_MULTIPATH, parsed as the kernel does.
std::vector<std::string> HopsOf(const NetlinkMessage& message, wire::Family family) {
  std::vector<std::string> hops;
  nlattr* multipath = Find(message, RTA_MULTIPATH);
  if (multipath == nullptr) return hops;
  auto* hop = static_cast<rtnexthop*>(nla_data(multipath));
  for (int left = nla_len(multipath); RTNH_OK(hop, left);
       left -= RTNH_ALIGN(hop->rtnh_len), hop = RTNH_NEXT(hop)) {
    std::string text = "link";
    if (hop->rtnh_len > sizeof *hop) {
      auto* attribute = RTNH_DATA(hop);
      wire::IpAddress address{family, {}};
      EXPECT_EQ(attribute->rta_type, RTA_GATEWAY);
      EXPECT_EQ(RTA_PAYLOAD(attribute), static_cast<size_t>(address.Length()));
      std::memcpy(address.bytes.data(), RTA_DATA(attribute), RTA_PAYLOAD(attribute));
      text = address.ToString();
    }
    hops.push_back(text + "/" + std::to_string(hop->rtnh_ifindex) + "/" +
                   std::to_string(hop->rtnh_flags & RTNH_F_ONLINK));
  }
  return hops;
}

TEST(RouteRequest, SeveralHopsAreAMultipathRoute) {
  RouteEntry entry = MakeEntry("10.2.0.0/16", "10.1.0.1");
  entry.hops.push_back(MakeHop("10.1.1.1", 6));
  entry.hops.push_back(MakeHop("", 7));
  const auto message = RouteRequest(RouteAction::kReplace, entry);
  EXPECT_EQ(HopsOf(message, wire::Family::kIpv4),
            (std::vector<std::string>{"10.1.0.1/5/4", "10.1.1.1/6/4", "link/7/0"}));
  EXPECT_EQ(Find(message, RTA_GATEWAY), nullptr);
  EXPECT_EQ(Find(message, RTA_OIF), nullptr);
  EXPECT_EQ(HeaderOf(message).rtm_scope, RT_SCOPE_UNIVERSE);
  EXPECT_EQ(HeaderOf(message).rtm_flags, 0u);
}

TEST(RouteRequest, SeveralHopsOfIpv6AreAMultipathRoute) {
  RouteEntry entry = MakeEntry("fd00:2::/32", "fe80::1");
  entry.hops.push_back(MakeHop("fe80::2", 6));
  EXPECT_EQ(HopsOf(RouteRequest(RouteAction::kCreate, entry), wire::Family::kIpv6),
            (std::vector<std::string>{"fe80::1/5/4", "fe80::2/6/4"}));
}

TEST(RouteRequest, RemovalWithoutHopsIsOfAll) {
  RouteEntry entry = MakeEntry("10.2.0.0/16", "");
  entry.hops.clear();
  const auto message = RouteRequest(RouteAction::kDelete, entry);
  for (const int attribute : {RTA_MULTIPATH, RTA_GATEWAY, RTA_OIF}) {
    EXPECT_EQ(Find(message, attribute), nullptr);
  }
}

}  // namespace
}  // namespace viaduct::sys
