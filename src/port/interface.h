// Properties of an interface. They are read by the interface's index, through a socket of its
// network namespace, because its name may change at any time.
#pragma once

#include <cstdint>

namespace viaduct::io {

// Returns the MTU in bytes. Throws SystemError (ENODEV: the interface is gone).
uint32_t InterfaceMtu(int fd, int ifindex);
// Returns the MTU in bytes; 0 if the interface is gone.
uint32_t InterfaceMtuNow(int fd, int ifindex);
// Whether the device itself reports a carrier. The flag IFF_RUNNING follows up to a second later.
bool InterfaceHasCarrier(int fd, int ifindex);
// Whether the interface exists, is administratively up and has a carrier.
bool InterfaceIsUp(int fd, int ifindex);

}  // namespace viaduct::io
