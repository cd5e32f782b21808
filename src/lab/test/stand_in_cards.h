// A substitute for Wi-Fi cards in tests. The interfaces of the simulated cards are ends of veth
// pairs, whose MAC addresses identify the card.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/wire/address.h"
#include "sys/card/wireless_cards.h"
#include "sys/network/link.h"

namespace viaduct::lab {

// Objects of this class store no state about the namespaces of cards, so that another process sees
// the same cards, as with the kernel's cards.
class StandInCards : public sys::WirelessCards {
 public:
  static wire::MacAddress MacOf(uint8_t card, uint8_t part) {
    wire::MacAddress mac;
    mac.bytes = {2, 'W', 'i', 'F', card, part};
    return mac;
  }

  std::vector<sys::CardInterface> Interfaces(int namespace_fd) override {
    std::vector<sys::CardInterface> interfaces;
    for (const sys::LinkInfo& link : sys::Netlink(namespace_fd).Links()) {
      const auto& bytes = link.mac.bytes;
      if (link.mac != MacOf(bytes[4], bytes[5])) continue;
      interfaces.push_back(
          {bytes[4], uint64_t{bytes[4]} << 32 | bytes[5], link.ifindex, link.name});
    }
    return interfaces;
  }

  sys::WirelessCard Inspect(int, uint32_t card) override {
    return {"phy" + std::to_string(card), movable};
  }

  void Move(uint32_t card, int from_fd, int to_fd) override {
    moves.push_back(card);
    sys::Netlink from(from_fd), to(to_fd);
    std::vector<sys::CardInterface> parts = Interfaces(from_fd);
    // The kernel lists the newest interface first (cfg80211_register_wdev()).
    std::ranges::reverse(parts);
    for (const sys::CardInterface& part : parts) {
      if (part.card != card) continue;
      from.SetUp(part.ifindex, false);
      from.MoveLink(part.ifindex, to_fd, to.FindLink(part.name) ? FreeName(to) : part.name);
    }
    if (std::exchange(breaks_after_move, false)) throw Error("interrupted");
  }

  bool movable = true;
  bool breaks_after_move = false;  // the next Move() throws after its move
  std::vector<uint32_t> moves;     // the cards that were moved, in order

 private:
  static std::string FreeName(sys::Netlink& session) {
    int number = 0;
    while (session.FindLink("wlan" + std::to_string(number))) ++number;
    return "wlan" + std::to_string(number);
  }
};

}  // namespace viaduct::lab
