// The messages of nl80211 that moving a Wi-Fi card takes (include/uapi/linux/nl80211.h,
// net/wireless/nl80211.c).
#pragma once

#include <cstdint>
#include <optional>

#include "sys/card/wireless_cards.h"
#include "sys/network/netlink.h"

namespace viaduct::sys::nl80211 {

// `family`: the number that the kernel has given to nl80211 since it started.

// Asks for all interfaces of cards of the socket's namespace.
NetlinkMessage InterfacesRequest(uint16_t family);
// Asks for a card of the socket's namespace.
NetlinkMessage CardRequest(uint16_t family, uint32_t card);
// Moves a card of the socket's namespace to another one, of which the sender has a descriptor.
NetlinkMessage MoveRequest(uint16_t family, uint32_t card, int namespace_fd);

// From an answer to InterfacesRequest(). None: it has no interface that others see, as those for
// Wi-Fi Direct. Such ones move with their card, unseen.
std::optional<CardInterface> ReadInterface(const nlmsghdr* answer);
// From an answer to CardRequest().
WirelessCard ReadCard(const nlmsghdr* answer);

}  // namespace viaduct::sys::nl80211
