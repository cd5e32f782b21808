// The names of a Wi-Fi card's interfaces.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sys/card/wireless_cards.h"
#include "sys/network/link.h"

namespace viaduct::lab {

// Names by the ids of interfaces; "": any name that is not required for another interface.
using CardNames = std::map<uint64_t, std::string>;

// Names the interfaces of one card, all of them in the session's namespace. The kernel moves them
// one by one, and may have given an interface whose name was taken the name of one that it moved
// later (cfg80211_switch_netns() of net/wireless/core.c). An interface that has the name of another
// interface, or may have any, is called "movedN"; interfaces without an entry keep theirs. Throws
// SystemError (EEXIST: an interface that is not of `card` has a name).
void NameCardInterfaces(sys::Netlink& session, const std::vector<sys::CardInterface>& card,
                        const CardNames& names);

}  // namespace viaduct::lab
