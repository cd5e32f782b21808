// Wi-Fi cards and the namespaces that they are in. The kernel moves a card (its "wiphy") with all
// of its interfaces, and refuses to move a single one (net/wireless/core.c,
// cfg80211_switch_netns()).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace viaduct::sys {

// An interface of a card.
struct CardInterface {
  uint32_t card = 0;  // the wiphy's number, which is the machine's in all namespaces
  uint64_t id = 0;    // stays when the card moves, as ifindex and name may not (NL80211_ATTR_WDEV)
  int ifindex = 0;
  std::string name;

  friend bool operator==(const CardInterface&, const CardInterface&) = default;
};

struct WirelessCard {
  std::string name;      // "phy0"
  bool movable = false;  // the driver lets its cards change namespaces (WIPHY_FLAG_NETNS_OK)
};

// The cards of the machine. The caller keeps owning descriptors of namespaces. For one thread at a
// time; tests replace it by a stand-in.
class WirelessCards {
 public:
  virtual ~WirelessCards() = default;

  // Returns the interfaces of all cards that are in this namespace; none if the kernel has no
  // nl80211. Throws SystemError.
  virtual std::vector<CardInterface> Interfaces(int namespace_fd) = 0;
  // Returns a card that is in this namespace. Throws SystemError (ENODEV: it is not).
  virtual WirelessCard Inspect(int namespace_fd, uint32_t card) = 0;
  // Moves a card with its interfaces, which are then down and without addresses. They keep their
  // names, except for names that are taken there: these interfaces become "wlanN". Needs
  // CAP_NET_ADMIN in both namespaces. Moves all interfaces or none. Throws EnvironmentError if the
  // driver cannot move them, SystemError.
  virtual void Move(uint32_t card, int from_fd, int to_fd) = 0;
};

// Returns the cards of the kernel, by nl80211. A build without libnl-genl-3 finds none.
WirelessCards& KernelCards();
// Whether this build can find cards.
bool KnowsCards();

}  // namespace viaduct::sys
