// Reads the kernel's routing tables.
#pragma once

#include <vector>

#include "base/wire/address.h"
#include "sys/network/link.h"

namespace viaduct::sys {

// Returns the destinations of the unicast routes of all tables, in no particular order; the
// destination of a default route has length 0. Throws SystemError.
std::vector<wire::IpPrefix> RouteDestinations(Netlink& session, wire::Family family);

}  // namespace viaduct::sys
