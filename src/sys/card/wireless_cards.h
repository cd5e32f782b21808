// Wi-Fi cards and the namespaces that they are in. The kernel moves a card (its "wiphy") with all
// of its interfaces, and refuses to move one of these alone (net/wireless/core.c,
// cfg80211_switch_netns()).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace viaduct::sys {

// An interface of a card.
struct CardInterface {
  uint32_t card = 0;  // the number of the wiphy: the machine's, whatever namespace it is in
  uint64_t id = 0;    // stays when the card moves, as ifindex and name may not (NL80211_ATTR_WDEV)
  int ifindex = 0;
  std::string name;

  friend bool operator==(const CardInterface&, const CardInterface&) = default;
};

struct WirelessCard {
  std::string name;      // "phy0"
  bool movable = false;  // the driver lets its cards change namespaces (WIPHY_FLAG_NETNS_OK)
};

// The cards of the machine. Descriptors of namespaces stay the caller's. For one thread at a time;
// tests put a stand-in in its place.
class WirelessCards {
 public:
  virtual ~WirelessCards() = default;

  // The interfaces of all cards that are in this namespace; none where the kernel has no nl80211.
  // Throws SystemError.
  virtual std::vector<CardInterface> Interfaces(int namespace_fd) = 0;
  // A card that is in this namespace. Throws SystemError (ENODEV: it is not).
  virtual WirelessCard Look(int namespace_fd, uint32_t card) = 0;
  // Moves a card with its interfaces, which are down then and without addresses. They keep their
  // names, but for those that are taken there: these become "wlanN". Needs CAP_NET_ADMIN in both.
  // All of them move or none. Throws EnvironmentError if the driver cannot, SystemError.
  virtual void Move(uint32_t card, int from_fd, int to_fd) = 0;
};

// Those of the kernel, by nl80211. A build without libnl-genl-3 finds none.
WirelessCards& KernelCards();
// Whether this build can find them.
bool KnowsCards();

}  // namespace viaduct::sys
