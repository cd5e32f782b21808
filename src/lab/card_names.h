// The names of a Wi-Fi card's interfaces.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sys/card/wireless_cards.h"
#include "sys/network/link.h"

namespace viaduct::lab {

// Names by the ids of interfaces; "": any name that no other interface is to have.
using CardNames = std::map<uint64_t, std::string>;

// Gives interfaces of one card, all of them in the session's namespace, their names. The kernel
// moves them one by one, and may have given an interface whose name was taken the name of one that
// came later (cfg80211_switch_netns() of net/wireless/core.c). An interface that has the name of
// another one, or is to have any, is called "movedN"; others without an entry keep theirs. Throws
// SystemError (EEXIST: an interface that is not of `card` has a name).
void NameCardInterfaces(sys::Netlink& session, const std::vector<sys::CardInterface>& card,
                        const CardNames& names);

}  // namespace viaduct::lab
