// The content of the kernel's tables of routes.
#pragma once

#include <vector>

#include "base/wire/address.h"
#include "sys/network/link.h"

namespace viaduct::sys {

// Returns the destinations of the unicast routes of all tables, in no order; a default route's has
// length 0. Throws SystemError.
// 0. Throws SystemError.
std::vector<wire::IpPrefix> RouteDestinations(Netlink& session, wire::Family family);

}  // namespace viaduct::sys
