#include "sys/card/wireless_cards.h"

#ifdef VIADUCT_HAS_GENL
#include <linux/netlink.h>
#include <linux/nl80211.h>
#include <netlink/errno.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/family.h>

#include <cerrno>
#include <memory>
#include <optional>

#include "base/error.h"
#include "sys/card/nl80211.h"
#include "sys/network/netlink.h"
#endif

namespace viaduct::sys {
namespace {

#ifdef VIADUCT_HAS_GENL

// Returns the generic netlink number of nl80211; nothing if the kernel does not support Wi-Fi.
// Searches the list of all families, because a request for the family nl80211 alone loads its
// kernel module (net/netlink/genetlink.c, ctrl_getfamily()).
std::optional<uint16_t> FindFamily(NetlinkSocket& socket) {
  nl_cache* all = nullptr;
  const int result = genl_ctrl_alloc_cache(socket.get(), &all);
  if (result < 0) {
    throw Error(std::string("list the families of generic netlink: ") + nl_geterror(result));
  }
  const std::unique_ptr<nl_cache, void (*)(nl_cache*)> cache(all, nl_cache_free);
  const std::unique_ptr<genl_family, void (*)(genl_family*)> family(
      genl_ctrl_search_by_name(all, NL80211_GENL_NAME), genl_family_put);
  if (!family) return std::nullopt;
  return static_cast<uint16_t>(genl_family_get_id(family.get()));
}

uint16_t RequireFamily(NetlinkSocket& socket, uint32_t card) {
  const std::optional<uint16_t> family = FindFamily(socket);
  if (!family) throw SystemError("query Wi-Fi card " + std::to_string(card), ENODEV);
  return *family;
}

class CardsOfKernel : public WirelessCards {
 public:
  std::vector<CardInterface> Interfaces(int namespace_fd) override {
    NetlinkSocket socket(namespace_fd, NETLINK_GENERIC);
    const std::optional<uint16_t> family = FindFamily(socket);
    if (!family) return {};
    NetlinkMessage message = nl80211::InterfacesRequest(*family);
    std::vector<CardInterface> interfaces;
    socket.Query(message, "list the interfaces of Wi-Fi cards", [&](const nlmsghdr* answer) {
      if (auto interface = nl80211::ReadInterface(answer)) interfaces.push_back(*interface);
    });
    return interfaces;
  }

  WirelessCard Inspect(int namespace_fd, uint32_t card) override {
    NetlinkSocket socket(namespace_fd, NETLINK_GENERIC);
    NetlinkMessage message = nl80211::CardRequest(RequireFamily(socket, card), card);
    WirelessCard found;
    socket.Query(message, "query Wi-Fi card " + std::to_string(card),
                 [&](const nlmsghdr* answer) { found = nl80211::ReadCard(answer); });
    return found;
  }

  void Move(uint32_t card, int from_fd, int to_fd) override {
    const std::string name = Inspect(from_fd, card).name;
    NetlinkSocket socket(from_fd, NETLINK_GENERIC);
    NetlinkMessage message = nl80211::MoveRequest(RequireFamily(socket, card), card, to_fd);
    try {
      socket.Request(message, "move Wi-Fi card " + name + " to another namespace");
    } catch (const SystemError& error) {
      if (error.error_number() != EOPNOTSUPP) throw;
      throw EnvironmentError("Wi-Fi card " + name +
                             ": the driver cannot move the card to another namespace");
    }
  }
};

#else

class CardsOfKernel : public WirelessCards {
 public:
  std::vector<CardInterface> Interfaces(int) override { return {}; }
  WirelessCard Inspect(int, uint32_t) override { return {}; }
  void Move(uint32_t, int, int) override {}
};

#endif

}  // namespace

WirelessCards& KernelCards() {
  static CardsOfKernel cards;
  return cards;
}

bool KnowsCards() {
#ifdef VIADUCT_HAS_GENL
  return true;
#else
  return false;
#endif
}

}  // namespace viaduct::sys
