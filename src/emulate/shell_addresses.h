// The addresses of shells: subnets of 100.64.0.0/10 (RFC 6598: reserved for carrier-grade NAT, so
// not used by ordinary networks).
#pragma once

#include <vector>

#include "wire/address.h"

namespace viaduct::emulate {

// What is in use in the calling thread's namespace: the prefixes of its addresses and routes. A
// route to all of 100.64.0.0/10 or more is no use of it, but a way to elsewhere.
std::vector<wire::IpPrefix> PrefixesInUse();

// The first /30 that overlaps none of these. Throws Error when there is none.
wire::IpPrefix FreeSubnet(const std::vector<wire::IpPrefix>& taken);

// Those of these networks that are subnets of shells, each once. A shell within routes them to its
// gateway, so that no shell within that chooses them.
std::vector<wire::IpPrefix> SubnetsOfShells(const std::vector<wire::IpPrefix>& taken);

}  // namespace viaduct::emulate
