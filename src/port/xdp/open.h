// Opens an interface for AF_XDP: the part that needs privilege. The result is passed to
// io::XdpPort, in this process or in a process without privilege that receives the descriptors.
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

// Makes the kernel poll the driver in system calls of this process instead of in interrupts
// (SO_PREFER_BUSY_POLL, SO_BUSY_POLL, SO_BUSY_POLL_BUDGET).
struct BusyPoll {
  int microseconds = 20;
  int budget = 64;  // frames
};

struct Request {
  std::string interface = "";
  Mode mode = Mode::kAuto;
  std::string filter = "";  // selects the frames to receive, the kernel gets the rest; empty: all
  bool promiscuous = true;  // receive frames for other stations, too
  std::optional<BusyPoll> busy_poll = std::nullopt;
};

struct Opened {
  io::XdpSockets sockets;  // the sockets; `keeper` is not set
  std::shared_ptr<Program> program;
  std::string why_generic;  // Program::why_generic()
};
// Opens sockets and attaches the program; no frames are received before an io::XdpPort has the
// sockets. If the driver resets the interface, waits until the carrier is back. Must be called in
// the interface's network namespace, as root. Throws Error.
Opened Open(const Request& request);

// Returns the locked memory that an io::XdpPort with these options needs, in bytes.
uint64_t LockedMemory(const io::XdpOptions& options, size_t queues, uint32_t mtu);
// Reduces the number of slots in the options until `ports` ports with these options need at most
// `limit` bytes of locked memory (RLIMIT_MEMLOCK).
io::XdpOptions FitLockedMemory(io::XdpOptions options, size_t queues, uint32_t mtu, size_t ports,
                               uint64_t limit);
// Raises the limit of locked memory of a process of `user` by `bytes`. Does nothing if the process
// belongs to another user, or if raising the limit is not permitted.
void AllowLockedMemory(int pid, uid_t user, uint64_t bytes);

// Opens a port; the process must be privileged. While the port is open, the offloads that
// OffloadsInTheWay() returns are off, and the XDP program is attached.
io::XdpPort OpenXdpPort(const Request& request, const io::XdpOptions& options = {});

}  // namespace viaduct::xdp
