// The addresses of shells: subnets of 100.64.0.0/10 (RFC 6598: reserved for carrier-grade NAT, so
// not used by ordinary networks), and their counterparts in fd76:6961:6475::/96 (RFC 4193: with the
// 40 bits after fd, another use is unlikely), whose last 32 bits are the IPv4 address.
#pragma once

#include <vector>

#include "base/wire/address.h"

namespace viaduct::path {

// Returns the prefixes of addresses and routes in the calling thread's namespace. A route to all of
// 100.64.0.0/10, or to a larger network, does not count: it does not use these addresses, but is
// only a route to other networks.
std::vector<wire::IpPrefix> PrefixesInUse();

// Returns the first /30 that overlaps none of `taken`. Throws Error if all of them overlap.
wire::IpPrefix FreeSubnet(const std::vector<wire::IpPrefix>& taken);

// Returns the networks of `taken` that are subnets of shells, without duplicates. A shell has
// routes to these networks through its gateway, so that a nested shell does not choose one of them.
std::vector<wire::IpPrefix> SubnetsOfShells(const std::vector<wire::IpPrefix>& taken);

// Returns the IPv6 counterpart of a shell's IPv4 address or subnet.
wire::IpAddress Ipv6Of(const wire::IpAddress& ipv4);
wire::IpPrefix Ipv6Of(const wire::IpPrefix& ipv4);

}  // namespace viaduct::path
