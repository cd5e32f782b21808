// Properties of an interface, read by its index through a socket of its namespace: its name may
// change at any time.
#pragma once

#include <cstdint>

namespace viaduct::io {

// Returns the largest payload in bytes. Throws SystemError (ENODEV: the interface is gone).
uint32_t InterfaceMtu(int fd, int ifindex);
// Returns the largest payload in bytes; 0 if the interface is gone.
uint32_t InterfaceMtuNow(int fd, int ifindex);
// Whether the device itself reports a carrier: IFF_RUNNING follows up to a second late.
bool InterfaceHasCarrier(int fd, int ifindex);
// Whether the interface exists, is administratively up and has a carrier.
bool InterfaceIsUp(int fd, int ifindex);

}  // namespace viaduct::io
