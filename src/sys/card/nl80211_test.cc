#include "sys/card/nl80211.h"

#include <gmock/gmock.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/nl80211.h>
#include <netlink/msg.h>

#include <cstring>
#include <string>
#include <vector>

#include "base/error.h"

namespace viaduct::sys::nl80211 {
namespace {

using ::testing::ElementsAre;

constexpr uint16_t kFamily = 0x1c;

// Returns the bytes of the message after nlmsghdr; the socket fills in the length, sequence number
// and port in nlmsghdr.
std::vector<int> BodyOf(const NetlinkMessage& message) {
  const auto* bytes = static_cast<const uint8_t*>(nlmsg_data(nlmsg_hdr(message.get())));
  return {bytes, bytes + nlmsg_datalen(nlmsg_hdr(message.get()))};
}

// Returns an answer in the format in which the kernel sends it.
NetlinkMessage Answer(uint8_t command) {
  NetlinkMessage message(kFamily, NLM_F_MULTI);
  message.AppendHeader(genlmsghdr{command, 1, 0});
  return message;
}

TEST(Nl80211, AsksForAllInterfaces) {
  const NetlinkMessage message = InterfacesRequest(kFamily);
  EXPECT_EQ(nlmsg_hdr(message.get())->nlmsg_type, kFamily);
  EXPECT_EQ(nlmsg_hdr(message.get())->nlmsg_flags & NLM_F_DUMP, NLM_F_DUMP);
  EXPECT_THAT(BodyOf(message), ElementsAre(NL80211_CMD_GET_INTERFACE, 0, 0, 0));
}

// Compares the request's bytes in little-endian order with the expected ones. The numbers of the
// kernel's header are spelt out, because they are part of the kernel's interface and never change.
TEST(Nl80211, AsksForOneCard) {
  const NetlinkMessage message = CardRequest(kFamily, 3);
  EXPECT_EQ(nlmsg_hdr(message.get())->nlmsg_flags & NLM_F_DUMP, 0);
  EXPECT_THAT(BodyOf(message), ElementsAre(1, 0, 0, 0, 8, 0, 1, 0, 3, 0, 0, 0));
}

TEST(Nl80211, MovesACardToTheNamespaceOfADescriptor) {
  static_assert(NL80211_CMD_SET_WIPHY_NETNS == 49 && NL80211_ATTR_NETNS_FD == 219);
  const NetlinkMessage message = MoveRequest(kFamily, 3, 258);
  EXPECT_EQ(nlmsg_hdr(message.get())->nlmsg_type, kFamily);
  EXPECT_THAT(BodyOf(message),
              ElementsAre(49, 0, 0, 0, 8, 0, 1, 0, 3, 0, 0, 0, 8, 0, 219, 0, 2, 1, 0, 0));
}

TEST(Nl80211, ReadsAnInterface) {
  NetlinkMessage answer = Answer(NL80211_CMD_NEW_INTERFACE);
  answer.PutU32(NL80211_ATTR_IFINDEX, 7);
  answer.Put(NL80211_ATTR_IFNAME, "wlan0");
  answer.PutU32(NL80211_ATTR_WIPHY, 2);
  answer.PutU64(NL80211_ATTR_WDEV, (uint64_t{2} << 32) | 1);
  const auto interface = ReadInterface(nlmsg_hdr(answer.get()));
  ASSERT_TRUE(interface);
  EXPECT_EQ(*interface, (CardInterface{2, 0x200000001, 7, "wlan0"}));
}

TEST(Nl80211, WhatHasNoInterfaceIsNone) {
  NetlinkMessage answer = Answer(NL80211_CMD_NEW_INTERFACE);
  answer.PutU32(NL80211_ATTR_WIPHY, 2);
  answer.PutU64(NL80211_ATTR_WDEV, (uint64_t{2} << 32) | 2);
  EXPECT_FALSE(ReadInterface(nlmsg_hdr(answer.get())));
}

TEST(Nl80211, RefusesAnInterfaceWithoutCard) {
  NetlinkMessage answer = Answer(NL80211_CMD_NEW_INTERFACE);
  answer.PutU32(NL80211_ATTR_IFINDEX, 7);
  answer.PutU8(NL80211_ATTR_WIPHY, 2);  // this attribute is too short
  answer.PutU64(NL80211_ATTR_WDEV, 1);
  EXPECT_THROW(ReadInterface(nlmsg_hdr(answer.get())), Error);
}

WirelessCard CardWith(const std::vector<uint32_t>& commands) {
  NetlinkMessage answer = Answer(NL80211_CMD_NEW_WIPHY);
  answer.PutU32(NL80211_ATTR_WIPHY, 2);
  answer.Put(NL80211_ATTR_WIPHY_NAME, "phy2");
  answer.Nest(NL80211_ATTR_SUPPORTED_COMMANDS, [&] {
    int number = 0;
    for (const uint32_t command : commands) answer.PutU32(++number, command);
  });
  return ReadCard(nlmsg_hdr(answer.get()));
}

TEST(Nl80211, ACardThatHasTheCommandIsMovable) {
  const WirelessCard card = CardWith({NL80211_CMD_NEW_INTERFACE, NL80211_CMD_SET_WIPHY_NETNS});
  EXPECT_EQ(card.name, "phy2");
  EXPECT_TRUE(card.movable);
  EXPECT_FALSE(CardWith({NL80211_CMD_NEW_INTERFACE}).movable);
  EXPECT_FALSE(CardWith({}).movable);
}

}  // namespace
}  // namespace viaduct::sys::nl80211
