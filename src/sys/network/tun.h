// TUN devices: the kernel's side is an interface, the other side a descriptor that carries IP
// packets.
#pragma once

#include <string>

#include "base/fd.h"

namespace viaduct::sys {

// Makes the device in the given namespace, persistent (it stays without a descriptor), IFF_NO_PI;
// down. Throws EnvironmentError where the kernel has no TUN.
void CreateTun(int namespace_fd, const std::string& name);
// The descriptor of a device that CreateTun() made; non-blocking. One at a time (EBUSY).
UniqueFd OpenTun(int namespace_fd, const std::string& name);

}  // namespace viaduct::sys
