// Rules that say which of a namespace's routing tables are asked (ip-rule(8)).
#pragma once

#include <cstdint>
#include <string>

#include "base/wire/address.h"
#include "sys/network/netlink.h"

namespace viaduct::sys {

// A table is asked for packets from one prefix to another. Both are of one family; those of length
// 0 hold all addresses.
struct RouteRule {
  wire::IpPrefix from, to;
  uint32_t table = 0;
  uint32_t priority = 0;  // the least is first; 0: before those that there are, but for the local
  // Only for what comes in on this interface ("lo": what programs of the namespace send); empty:
  // for all.
  std::string incoming = {};
};

// The request that adds a rule (RTM_NEWRULE); EEXIST if there is the same one.
NetlinkMessage RuleRequest(const RouteRule& rule);

}  // namespace viaduct::sys
