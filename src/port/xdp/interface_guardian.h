// The settings of interfaces that AF_XDP ports change, and the guardian that restores them however
// the ports end.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/fd.h"
#include "port/xdp/program.h"
#include "sys/network/offload.h"
#include "sys/process/guardian.h"

namespace viaduct::xdp {

// The offloads that must be off so that a frame's bytes are complete: XDP sees neither the partial
// checksums, tags nor segment sizes that sk_buffs keep outside of them.
struct NeededOff {
  UniqueFd network;
  std::string interface;
  int ifindex = 0;
  std::vector<sys::Offloads> kinds;
};
// Returns the offloads that must be off on the interface, and on the peer of a veth pair, which
// sends it its frames. `kind`: the port's, for messages: DPDK and netmap do not see more than XDP
// of what is kept outside a frame. Throws UsageError if there is no such interface in the calling
// thread's namespace; EnvironmentError if AF_XDP cannot get its frames: those of loopback, bridges
// and others that the kernel's own software makes, those of a peer out of reach.
std::vector<NeededOff> OffloadsInTheWay(const std::string& interface,
                                        const std::string& kind = "AF_XDP");
// Returns the names of those that are on.
std::vector<std::string> Active(const NeededOff& needed);
// Throws EnvironmentError if the driver does not allow it.
void SwitchOff(const NeededOff& needed);

// Keeps the offloads off from its construction on. A process that it forks restores the offloads
// that were on when the first of several ports on an interface, or on the ends of a veth pair, was
// opened, once the last port is closed or its process has exited. Meanwhile they are listed in
// /run/viaduct/.xdp, through which guardians know of each other; if a guardian is killed, too, the
// next one there restores them.
class InterfaceGuardian {
 public:
  // Acts in the calling thread's namespace. `kind` as above. Throws Error.
  explicit InterfaceGuardian(const std::string& interface, const std::string& kind = "AF_XDP");
  // Makes the forked process wait first until this program is unloaded, and detach it if a killed
  // process would leave it (Program::Left()).
  void Guard(const Program& program);

 private:
  std::unique_ptr<sys::Guardian> guardian_;
};

}  // namespace viaduct::xdp
