// TUN and TAP devices: the kernel's side is an interface, the other side descriptors that carry IP
// packets (TUN) or Ethernet frames (TAP).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/fd.h"

namespace viaduct::sys {

// Makes the device in the given namespace, persistent (it stays without a descriptor), IFF_NO_PI;
// down. Throws EnvironmentError where the kernel has no TUN.
void CreateTun(int namespace_fd, const std::string& name);
// The descriptor of a device that CreateTun() made; non-blocking. One at a time (EBUSY).
UniqueFd OpenTun(int namespace_fd, const std::string& name);

// The descriptors of a TAP device in the thread's namespace, one for each of `queues` (more than
// one: IFF_MULTI_QUEUE); non-blocking, IFF_NO_PI | IFF_VNET_HDR. The kernel leaves checksums and
// the cutting of TCP segments to whoever reads them (TUNSETOFFLOAD: io::TunPort has it undone), and
// spreads flows over the
// queues. A device that is not there is made, down, and ends with its descriptors; one that is
// there must be persistent and of as many queues (`ip tuntap add NAME mode tap [multi_queue]`).
// Throws UsageError where it is something else or in use, EnvironmentError where the kernel has no
// TUN, SystemError.
std::vector<UniqueFd> OpenTap(const std::string& name, int queues);
// How many frames the kernel has dropped because nobody read them from the device, since it was
// made. 0 if it is gone.
uint64_t TapDrops(int namespace_fd, int ifindex);
// Removes a device that OpenTap() made, also one that a descriptor has been used to make persistent
// (TUNSETPERSIST), or is open. Nothing if it is gone. Throws SystemError.
void RemoveTap(int namespace_fd, int ifindex);
// Has the kernel do itself again what OpenTap() had it leave to the reader, if the device of one
// queue is still there: for a reader that was killed. Waits a while for it to be closed; leaves it
// if another program has it open by then. Throws SystemError.
void ResetTap(int namespace_fd, int ifindex);

}  // namespace viaduct::sys
