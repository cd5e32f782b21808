// The settings of interfaces that AF_XDP ports change, and the guardian process that restores the
// settings when the ports end, even if they are killed.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/fd.h"
#include "port/xdp/program.h"
#include "sys/network/offload.h"
#include "sys/process/guardian.h"

namespace viaduct::xdp {

// The offloads of an interface that must be off so that the bytes of a frame are complete: XDP does
// not see the partial checksums, tags and segment sizes that sk_buffs keep outside the bytes.
struct NeededOff {
  UniqueFd network;
  std::string interface;
  int ifindex = 0;
  std::vector<sys::Offloads> kinds;
};
// Returns the offloads that must be off on the interface and, if the interface is one of a veth
// pair, on the peer that sends frames to it. `kind`: the kind of port, for messages; DPDK and
// netmap, like AF_XDP, see only the bytes of a frame. Throws UsageError if there is no such
// interface in the calling thread's network namespace; EnvironmentError if AF_XDP cannot get the
// interface's frames, because the kernel's own software makes the frames (as for loopback and
// bridges), or because a peer makes the frames and cannot be reached.
std::vector<NeededOff> OffloadsInTheWay(const std::string& interface,
                                        const std::string& kind = "AF_XDP");
// Returns the names of the offloads of `needed` that are on.
std::vector<std::string> Active(const NeededOff& needed);
// Switches the offloads off. Throws EnvironmentError if the driver does not allow it.
void SwitchOff(const NeededOff& needed);

// Keeps offloads off. The constructor forks a process, the guardian, which restores the offloads:
// the guardian switches on the offloads that were on before the first of several ports on an
// interface, or on the ends of a veth pair, was opened. The guardian does so when the last of these
// ports is closed or its process has exited. Until then the offloads are listed in
// /run/viaduct/.xdp, through which guardians know of each other. If a guardian is killed as well,
// the next guardian on the interface restores the offloads.
class InterfaceGuardian {
 public:
  // Switches the offloads off, in the calling thread's network namespace. `kind`: the kind of port,
  // for messages. Throws Error.
  explicit InterfaceGuardian(const std::string& interface, const std::string& kind = "AF_XDP");
  // Makes the guardian first wait until this program is unloaded, and detach the program if a
  // killed process would leave it attached (Program::Left()).
  void Guard(const Program& program);

 private:
  std::unique_ptr<sys::Guardian> guardian_;
};

}  // namespace viaduct::xdp
