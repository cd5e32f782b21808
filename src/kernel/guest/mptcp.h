// MPTCP's path manager (Documentation/netlink/specs/mptcp_pm.yaml).
#pragma once

#include "kernel/agent_protocol.h"

namespace viaduct::kernel::guest {

// In the calling thread's namespace, which gets room for eight subflows of each connection. Throws
// SystemError; EOPNOTSUPP where the kernel has no MPTCP.
void AddMptcpEndpoint(const agent::MptcpEndpoint& endpoint);

}  // namespace viaduct::kernel::guest
