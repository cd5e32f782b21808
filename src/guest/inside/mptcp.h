// Requests to MPTCP's path manager (Documentation/netlink/specs/mptcp_pm.yaml).
#pragma once

#include "guest/agent/agent_protocol.h"

namespace viaduct::guest::inside {

// AddMptcpEndpoint() and SetMptcpLimits() act on the calling thread's network namespace and throw
// SystemError, with EOPNOTSUPP if the kernel has no MPTCP.
void AddMptcpEndpoint(const agent::MptcpEndpoint& endpoint);
void SetMptcpLimits(const agent::MptcpLimits& limits);

}  // namespace viaduct::guest::inside
