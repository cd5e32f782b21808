// Opening an interface for AF_XDP: what needs privilege. What is returned is for io::XdpPort, in
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

// The kernel polls the driver in this process's system calls instead of in interrupts
// (SO_PREFER_BUSY_POLL, SO_BUSY_POLL, SO_BUSY_POLL_BUDGET).
struct BusyPoll {
  int microseconds = 20;
  int budget = 64;  // frames
};

struct Request {
  std::string interface = "";
  Mode mode = Mode::kAuto;
  std::string filter = "";  // which frames; the kernel gets the others. Empty: all
  bool promiscuous = true;  // frames for other stations, too
  std::optional<BusyPoll> busy_poll = std::nullopt;
};

struct Opened {
  io::XdpSockets sockets;  // without a keeper
  std::shared_ptr<Program> program;
  std::string why_generic;  // of Program
};
// Opens sockets and attaches the program; nothing is received before an io::XdpPort has them. Waits
// until the interface has its carrier again where the driver resets it. In the calling thread's
// namespace, as root. Throws Error.
Opened Open(const Request& request);

// Locked memory that an io::XdpPort with these options needs, in bytes.
uint64_t LockedMemory(const io::XdpOptions& options, size_t queues, uint32_t mtu);
// The same with fewer slots, if so many ports would need more than `limit` bytes (RLIMIT_MEMLOCK).
io::XdpOptions FitLockedMemory(io::XdpOptions options, size_t queues, uint32_t mtu, size_t ports,
                               uint64_t limit);
// Lets a process of this user's lock so much more than it may. Where it is another's, or that is
// not permitted, nothing happens.
void AllowLockedMemory(int pid, uid_t user, uint64_t bytes);

// All of it for a process with privilege: OffloadsInTheWay() are off as long as the port is open,
// and the program is attached.
io::XdpPort OpenXdpPort(const Request& request, const io::XdpOptions& options = {});

}  // namespace viaduct::xdp
