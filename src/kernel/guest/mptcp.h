// MPTCP's path manager (Documentation/netlink/specs/mptcp_pm.yaml).
#pragma once

#include "kernel/agent_protocol.h"

namespace viaduct::kernel::guest {

// Both in the calling thread's namespace. Throw SystemError; EOPNOTSUPP where the kernel has no
// MPTCP.
void AddMptcpEndpoint(const agent::MptcpEndpoint& endpoint);
void SetMptcpLimits(const agent::MptcpLimits& limits);

}  // namespace viaduct::kernel::guest
