// TUN and TAP devices. One side of a device is an interface of the kernel; the other side consists
// of descriptors that carry IP packets (TUN) or Ethernet frames (TAP).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/fd.h"

namespace viaduct::sys {

// Makes the device in the given namespace, with IFF_NO_PI; it is down, and persistent: it also
// exists without a descriptor. Throws EnvironmentError if the kernel has no TUN.
void CreateTun(int namespace_fd, const std::string& name);
// Opens a device that CreateTun() made; non-blocking. Only one descriptor can be open at a time
// (EBUSY).
UniqueFd OpenTun(int namespace_fd, const std::string& name);

// Opens a TAP device in the thread's namespace, with a descriptor for each of `queues` (more than
// one: IFF_MULTI_QUEUE); non-blocking, IFF_NO_PI | IFF_VNET_HDR. The kernel leaves checksums and
// the segmentation of TCP to the reader (TUNSETOFFLOAD; io::TunPort performs both), and spreads
// flows over the queues. Makes the device if it does not exist; the new device is down, and is
// removed when its descriptors are closed. An existing device must be persistent and have as many
// queues (`ip tuntap add NAME mode tap [multi_queue]`). Throws UsageError if the interface is
// something else or in use, EnvironmentError if the kernel has no TUN, SystemError.
std::vector<UniqueFd> OpenTap(const std::string& name, int queues);
// Returns the number of frames that the kernel has dropped since the device was made because no
// process read them; 0 if the device is gone.
uint64_t TapDrops(int namespace_fd, int ifindex);
// Removes a device that OpenTap() made, even if it is open or was made persistent through a
// descriptor (TUNSETPERSIST). Does nothing if the device is gone. Throws SystemError.
void RemoveTap(int namespace_fd, int ifindex);
// Cleans up after a reader that was killed: if the device, which must have one queue, still exists,
// makes the kernel again compute checksums and segment TCP, which OpenTap() had left to the reader.
// Waits a short time until the device is closed. Changes nothing if another program still has the
// device open. Throws SystemError.
void ResetTap(int namespace_fd, int ifindex);

}  // namespace viaduct::sys
