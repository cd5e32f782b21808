// Opens an interface for AF_XDP: the part that needs privilege. The result is for io::XdpPort, in
// this process or in one without privilege, to which the descriptors are passed.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "port/xdp/interface_guardian.h"
#include "port/xdp/program.h"
#include "port/xdp/xdp_port.h"

namespace viaduct::xdp {

// Makes the kernel poll the driver in this process's system calls instead of in interrupts
// (SO_PREFER_BUSY_POLL, SO_BUSY_POLL, SO_BUSY_POLL_BUDGET).
struct BusyPoll {
  int microseconds = 20;
  int budget = 64;  // frames
};

struct Request {
  std::string interface = "";
  Mode mode = Mode::kAuto;
  std::string filter = "";  // the frames to receive; the kernel gets the rest. Empty: all
  bool promiscuous = true;  // frames for other stations, too
  std::optional<BusyPoll> busy_poll = std::nullopt;
};

struct Opened {
  io::XdpSockets sockets;  // no `keeper` is set
  std::shared_ptr<Program> program;
  std::string why_generic;  // Program::why_generic()
};
// Opens sockets and attaches the program; nothing is received before an io::XdpPort has them. Waits
// until the interface has its carrier again if the driver resets it. Called in the calling thread's
// namespace, as root. Throws Error.
Opened Open(const Request& request);

// Returns the locked memory that an io::XdpPort with these options needs, in bytes.
uint64_t LockedMemory(const io::XdpOptions& options, size_t queues, uint32_t mtu);
// Reduces the number of slots if `ports` such ports would need more than `limit` bytes
// (RLIMIT_MEMLOCK).
io::XdpOptions FitLockedMemory(io::XdpOptions options, size_t queues, uint32_t mtu, size_t ports,
                               uint64_t limit);
// Raises the limit of locked memory of this user's process by `bytes`. If the process is another
// user's, or that is not permitted, nothing happens.
void AllowLockedMemory(int pid, uid_t user, uint64_t bytes);

// Opens a complete port in a process with privilege: OffloadsInTheWay() are off while the port is
// open, and the program is attached.
io::XdpPort OpenXdpPort(const Request& request, const io::XdpOptions& options = {});

}  // namespace viaduct::xdp
