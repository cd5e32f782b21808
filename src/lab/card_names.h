// The names of a Wi-Fi card's interfaces.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sys/card/wireless_cards.h"
#include "sys/network/link.h"

namespace viaduct::lab {

// The required names of interfaces; the key is the interface's id; "": any name that is not
// required for another interface.
using CardNames = std::map<uint64_t, std::string>;

// Names the interfaces of one card, which must all be in the session's namespace. The kernel moves
// the interfaces of a card one by one. If the name of an interface is taken, the kernel gives it
// another name, which may be the name of an interface that is moved later (cfg80211_switch_netns()
// of net/wireless/core.c). An interface that has a name required for another interface, or whose
// entry in `names` is "", is called "movedN"; interfaces without an entry keep their names. Throws
// SystemError (EEXIST: an interface that is not of `card` has a required name).
void NameCardInterfaces(sys::Netlink& session, const std::vector<sys::CardInterface>& card,
                        const CardNames& names);

}  // namespace viaduct::lab
