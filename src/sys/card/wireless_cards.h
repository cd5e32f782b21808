// Wi-Fi cards and the namespaces that they are in. The kernel moves a card (its "wiphy") with all
// of its interfaces, and refuses to move a single interface (net/wireless/core.c,
// cfg80211_switch_netns()).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace viaduct::sys {

// A network interface of a Wi-Fi card.
struct CardInterface {
  uint32_t card = 0;  // the wiphy's number, the same in all namespaces of the machine
  // The interface's number (NL80211_ATTR_WDEV), which stays the same when the card moves; ifindex
  // and name may change.
  uint64_t id = 0;
  int ifindex = 0;
  std::string name;

  friend bool operator==(const CardInterface&, const CardInterface&) = default;
};

struct WirelessCard {
  std::string name;      // the card's name: "phy0"
  bool movable = false;  // the driver lets its cards change namespaces (WIPHY_FLAG_NETNS_OK)
};

// The Wi-Fi cards of the machine. Descriptors of namespaces that are passed to the functions still
// belong to the caller. Only one thread may use an object at a time. Tests replace this class by a
// stand-in.
class WirelessCards {
 public:
  virtual ~WirelessCards() = default;

  // Returns the interfaces of all cards that are in this namespace; none if the kernel has no
  // nl80211. Throws SystemError.
  virtual std::vector<CardInterface> Interfaces(int namespace_fd) = 0;
  // Returns a card that is in this namespace. Throws SystemError (ENODEV: the card is not in this
  // namespace).
  virtual WirelessCard Inspect(int namespace_fd, uint32_t card) = 0;
  // Moves a card with its interfaces, which are then down and without addresses. An interface keeps
  // its name, unless another interface of the new namespace has that name: then it is renamed to
  // "wlanN". Needs CAP_NET_ADMIN in both namespaces. Moves all interfaces or none. Throws
  // EnvironmentError if the driver cannot move them, or SystemError.
  virtual void Move(uint32_t card, int from_fd, int to_fd) = 0;
};

// Returns the Wi-Fi cards of the kernel, found by nl80211; finds none in a build without
// libnl-genl-3.
WirelessCards& KernelCards();
// Whether this build can find Wi-Fi cards.
bool KnowsCards();

}  // namespace viaduct::sys
