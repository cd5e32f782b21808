// The messages of nl80211 that are needed to move a Wi-Fi card (include/uapi/linux/nl80211.h,
// net/wireless/nl80211.c).
#pragma once

#include <cstdint>
#include <optional>

#include "sys/card/wireless_cards.h"
#include "sys/network/netlink.h"

namespace viaduct::sys::nl80211 {

// The parameter `family` of the following functions is the number that the kernel has assigned to
// nl80211 since the machine was started.

// Returns the request for all interfaces of Wi-Fi cards in the socket's namespace.
NetlinkMessage InterfacesRequest(uint16_t family);
// Returns the request for a card in the socket's namespace.
NetlinkMessage CardRequest(uint16_t family, uint32_t card);
// Returns the request that moves a card from the socket's namespace to another namespace, of which
// the sender has a descriptor.
NetlinkMessage MoveRequest(uint16_t family, uint32_t card, int namespace_fd);

// Parses an answer to InterfacesRequest(). Returns nothing for an interface that other programs do
// not see, such as one for Wi-Fi Direct; such an interface moves with its card.
std::optional<CardInterface> ReadInterface(const nlmsghdr* answer);
// Parses an answer to CardRequest().
WirelessCard ReadCard(const nlmsghdr* answer);

}  // namespace viaduct::sys::nl80211
