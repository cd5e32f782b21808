#include "sys/card/nl80211.h"

#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/nl80211.h>
#include <netlink/attr.h>
#include <netlink/msg.h>

#include "base/error.h"

namespace viaduct::sys::nl80211 {
namespace {

NetlinkMessage Command(uint16_t family, int flags, uint8_t command) {
  NetlinkMessage message(family, flags);
  message.AppendHeader(genlmsghdr{command, 0, 0});
  return message;
}

nlattr* Find(const nlmsghdr* answer, int attribute) {
  return nlmsg_find_attr(const_cast<nlmsghdr*>(answer), sizeof(genlmsghdr), attribute);
}

// Returns an attribute of the message; null if there is no such attribute, or if it is shorter than
// `length`.
nlattr* Find(const nlmsghdr* answer, int attribute, size_t length) {
  nlattr* found = Find(answer, attribute);
  return found != nullptr && static_cast<size_t>(nla_len(found)) >= length ? found : nullptr;
}

std::string TextOf(const nlattr* attribute) {
  if (attribute == nullptr) return "";
  const std::string text(static_cast<const char*>(nla_data(attribute)),
                         static_cast<size_t>(nla_len(attribute)));
  return text.substr(0, text.find('\0'));
}

}  // namespace

NetlinkMessage InterfacesRequest(uint16_t family) {
  return Command(family, NLM_F_DUMP, NL80211_CMD_GET_INTERFACE);
}

NetlinkMessage CardRequest(uint16_t family, uint32_t card) {
  NetlinkMessage message = Command(family, 0, NL80211_CMD_GET_WIPHY);
  message.PutU32(NL80211_ATTR_WIPHY, card);
  return message;
}

NetlinkMessage MoveRequest(uint16_t family, uint32_t card, int namespace_fd) {
  NetlinkMessage message = Command(family, 0, NL80211_CMD_SET_WIPHY_NETNS);
  message.PutU32(NL80211_ATTR_WIPHY, card);
  message.PutU32(NL80211_ATTR_NETNS_FD, static_cast<uint32_t>(namespace_fd));
  return message;
}

std::optional<CardInterface> ReadInterface(const nlmsghdr* answer) {
  const nlattr* ifindex = Find(answer, NL80211_ATTR_IFINDEX, sizeof(uint32_t));
  if (ifindex == nullptr) return std::nullopt;
  const nlattr* card = Find(answer, NL80211_ATTR_WIPHY, sizeof(uint32_t));
  const nlattr* id = Find(answer, NL80211_ATTR_WDEV, sizeof(uint64_t));
  if (card == nullptr || id == nullptr) {
    throw Error("malformed message about a Wi-Fi interface from the kernel");
  }
  return CardInterface{nla_get_u32(card), nla_get_u64(id), static_cast<int>(nla_get_u32(ifindex)),
                       TextOf(Find(answer, NL80211_ATTR_IFNAME))};
}

WirelessCard ReadCard(const nlmsghdr* answer) {
  WirelessCard card;
  card.name = TextOf(Find(answer, NL80211_ATTR_WIPHY_NAME));
  // A driver that cannot move a card to another namespace does not list the command for moving
  // cards (nl80211_add_commands_unsplit()).
  nlattr* commands = Find(answer, NL80211_ATTR_SUPPORTED_COMMANDS);
  if (commands == nullptr) return card;
  int left = 0;
  nlattr* command = nullptr;
  nla_for_each_nested(command, commands, left) {
    if (nla_len(command) < static_cast<int>(sizeof(uint32_t))) continue;
    if (nla_get_u32(command) == NL80211_CMD_SET_WIPHY_NETNS) card.movable = true;
  }
  return card;
}

}  // namespace viaduct::sys::nl80211
