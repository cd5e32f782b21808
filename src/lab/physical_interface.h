// The machine's own interfaces that a lab's nodes get.
#pragma once

#include <string>

#include "sys/network/link.h"

namespace viaduct::lab {

// Finds the interface in the session's namespace, `host`. Throws UsageError if a lab cannot have
// it: it does not exist, another lab (of the records in `root`) has it, or the machine itself uses
// it.
sys::LinkInfo CheckPhysical(sys::Netlink& host, const std::string& root,
                            const std::string& interface);

}  // namespace viaduct::lab
