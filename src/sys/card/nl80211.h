// The messages of nl80211 that are needed to move a Wi-Fi card (include/uapi/linux/nl80211.h,
// net/wireless/nl80211.c).
#pragma once

#include <cstdint>
#include <optional>

#include "sys/card/wireless_cards.h"
#include "sys/network/netlink.h"

namespace viaduct::sys::nl80211 {

// `family` in these functions: the number that the kernel has given to nl80211 since it started.

// Asks for all interfaces of cards of the socket's namespace.
NetlinkMessage InterfacesRequest(uint16_t family);
// Asks for a card of the socket's namespace.
NetlinkMessage CardRequest(uint16_t family, uint32_t card);
// Moves a card of the socket's namespace to another namespace, of which the sender has a
// descriptor.
NetlinkMessage MoveRequest(uint16_t family, uint32_t card, int namespace_fd);

// Reads an answer to InterfacesRequest(). Returns nothing for an interface that other programs do
// not see, such as one for Wi-Fi Direct; such an interface moves with its card, unseen.
std::optional<CardInterface> ReadInterface(const nlmsghdr* answer);
// Reads an answer to CardRequest().
WirelessCard ReadCard(const nlmsghdr* answer);

}  // namespace viaduct::sys::nl80211
