// Rules that select which of a namespace's routing tables are looked up (ip-rule(8)).
#pragma once

#include <cstdint>
#include <string>

#include "base/wire/address.h"
#include "sys/network/netlink.h"

namespace viaduct::sys {

// A rule by which a table is looked up for packets from one prefix to another. Both prefixes are of
// one family; one of length 0 contains all addresses.
struct RouteRule {
  wire::IpPrefix from, to;
  uint32_t table = 0;
  uint32_t priority = 0;  // lowest first; 0: before all existing rules but the local one
  // The rule is only for packets that arrive on this interface ("lo": packets that programs of the
  // namespace send); empty: for all packets.
  std::string incoming = {};
};

// Returns the request that adds a rule (RTM_NEWRULE); EEXIST if the same rule exists.
NetlinkMessage RuleRequest(const RouteRule& rule);

}  // namespace viaduct::sys
