// Rules that select which routing tables of a namespace the kernel uses (ip-rule(8)).
#pragma once

#include <cstdint>
#include <string>

#include "base/wire/address.h"
#include "sys/network/netlink.h"

namespace viaduct::sys {

// A rule that makes the kernel look up a table for packets from one prefix to another. Both
// prefixes are of one family; a prefix of length 0 contains all addresses.
struct RouteRule {
  wire::IpPrefix from, to;
  uint32_t table = 0;
  // The rule with the lowest priority is applied first; 0: before all existing rules except the
  // local one.
  uint32_t priority = 0;
  // The rule applies only to packets that arrive on this interface ("lo": packets that programs of
  // the namespace send). Empty: the rule applies to all packets.
  std::string incoming = {};
};

// Returns the request that adds a rule (RTM_NEWRULE); the kernel returns EEXIST if the same rule
// exists.
NetlinkMessage RuleRequest(const RouteRule& rule);

}  // namespace viaduct::sys
