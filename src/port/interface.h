// What a socket's namespace says of an interface, by its index: it may be renamed at any time.
#pragma once

#include <cstdint>

namespace viaduct::io {

// Bytes of a payload. Throws SystemError (ENODEV: it is gone).
uint32_t InterfaceMtu(int fd, int ifindex);
// The same without an exception: 0 if it is gone.
uint32_t InterfaceMtuNow(int fd, int ifindex);
// Whether the device itself says that it has a carrier: IFF_RUNNING follows up to a second late.
bool InterfaceHasCarrier(int fd, int ifindex);
// Whether it exists, is administratively up and has a carrier.
bool InterfaceIsUp(int fd, int ifindex);

}  // namespace viaduct::io
