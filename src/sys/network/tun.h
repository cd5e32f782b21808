// TUN and TAP devices: the kernel's side is an interface, the other side descriptors that carry IP
// packets (TUN) or Ethernet frames (TAP).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/fd.h"

namespace viaduct::sys {

// Makes the device in the given namespace, persistent (it stays without a descriptor), IFF_NO_PI;
// down. Throws EnvironmentError if the kernel has no TUN.
void CreateTun(int namespace_fd, const std::string& name);
// Opens a device that CreateTun() made; non-blocking. One descriptor at a time (EBUSY).
UniqueFd OpenTun(int namespace_fd, const std::string& name);

// Opens a TAP device in the thread's namespace, with a descriptor for each of `queues` (more than
// one: IFF_MULTI_QUEUE); non-blocking, IFF_NO_PI | IFF_VNET_HDR. The kernel leaves checksums and
// the cutting of TCP segments to the reader (TUNSETOFFLOAD: io::TunPort undoes this), and spreads
// flows over the queues. Makes the device, down, if it does not exist; it then ends with its
// descriptors. An existing device must be persistent and have as many queues (`ip tuntap add NAME
// mode tap [multi_queue]`). Throws UsageError if it is something else or in use, EnvironmentError
// if the kernel has no TUN, SystemError.
std::vector<UniqueFd> OpenTap(const std::string& name, int queues);
// Returns the number of frames that the kernel has dropped since the device was made because no
// process read them. 0 if the device is gone.
uint64_t TapDrops(int namespace_fd, int ifindex);
// Removes a device that OpenTap() made, even if it is open or a descriptor has been used to make it
// persistent (TUNSETPERSIST). Does nothing if it is gone. Throws SystemError.
void RemoveTap(int namespace_fd, int ifindex);
// Makes the kernel do again what OpenTap() left to the reader, if the device of one queue still
// exists: for a reader that was killed. Waits a while for the device to be closed; leaves it if
// another program still has it open. Throws SystemError.
void ResetTap(int namespace_fd, int ifindex);

}  // namespace viaduct::sys
