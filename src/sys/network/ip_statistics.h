// The counters of IPv4, IPv6 and the interfaces of a network namespace.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace viaduct::sys {

// The counters by name: "Ip.InHdrErrors", "IpExt.InNoRoutes", "Ip6InHdrErrors".
using IpCounters = std::map<std::string, uint64_t>;

// Adds the counters in the text of /proc/net/snmp or /proc/net/netstat, which has a line of names
// and a line of numbers for each group (net/ipv4/proc.c).
void AddGroups(std::string_view text, IpCounters& counters);
// Adds the counters in the text of /proc/net/snmp6, which has a name and a number per line
// (net/ipv6/proc.c).
void AddLines(std::string_view text, IpCounters& counters);

// Returns the number of dropped packets by cause, only for causes that occurred:
//  - ttl_or_header: the TTL or hop limit was used up, or the header is broken
//  - no_route: there is no route for a packet to be forwarded
//  - bad_address: the source or destination is not forwarded, or not by this node
//  - too_long: the packet is too long for the next link, and must not be fragmented
//  - truncated: the packet is shorter than the length in its header
//  - discarded: the kernel had no memory for the packet, or a policy forbids it
// A packet whose next hop does not answer, or that a route refuses, is counted under no cause.
IpCounters DropsAmong(const IpCounters& counters);

// Returns the number of packets by cause, as DropsAmong() does, that IP has dropped in a namespace
// since the namespace was created. Throws SystemError.
IpCounters IpDrops(int namespace_fd);

// Returns the number of packets that were dropped on sending, from a text in the format of
// /proc/net/dev: the packets of this interface, or of all interfaces if no name is given.
uint64_t SendingDrops(std::string_view proc_net_dev, std::string_view interface = {});
// Returns the number of packets that an interface of a namespace has dropped on sending since it
// was created; 0 if there is no such interface. Throws SystemError.
uint64_t SendingDrops(int namespace_fd, std::string_view interface);

}  // namespace viaduct::sys
