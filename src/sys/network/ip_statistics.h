// The counters of a network namespace's IPv4 and IPv6, and of its interfaces.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace viaduct::sys {

// Counters by name: "Ip.InHdrErrors", "IpExt.InNoRoutes", "Ip6InHdrErrors".
using IpCounters = std::map<std::string, uint64_t>;

// Adds the counters of /proc/net/snmp or /proc/net/netstat: for each group a line of names and one
// of numbers (net/ipv4/proc.c).
void AddGroups(std::string_view text, IpCounters& counters);
// Adds the counters of /proc/net/snmp6: a name and a number per line (net/ipv6/proc.c).
void AddLines(std::string_view text, IpCounters& counters);

// The packets that were dropped, by cause, only causes that occurred:
//  - ttl_or_header: the TTL or hop limit was used up, or the header is broken
//  - no_route: of those to be forwarded
//  - bad_address: a source or destination that is not forwarded, or not by this node
//  - too_long: for the next link, and not to be fragmented
//  - truncated: shorter than the length in their header
//  - discarded: for want of memory, or by a policy
// A packet whose next hop does not answer, and one that a route refuses, is counted nowhere.
IpCounters DropsAmong(const IpCounters& counters);

// Returns the packets that IP has dropped in a namespace since it was created, as DropsAmong().
// Throws SystemError.
IpCounters IpDrops(int namespace_fd);

// Returns the packets that were dropped on sending, from a text in the format of /proc/net/dev:
// those of this interface, or of all if no name is given.
uint64_t SendingDrops(std::string_view proc_net_dev, std::string_view interface = {});
// Returns the packets that an interface of a namespace has dropped on sending since it was created;
// 0 if there is no such interface. Throws SystemError.
uint64_t SendingDrops(int namespace_fd, std::string_view interface);

}  // namespace viaduct::sys
