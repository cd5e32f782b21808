// What ports by AF_XDP change of interfaces, and what undoes it however they end.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/fd.h"
#include "port/xdp/program.h"
#include "sys/network/offload.h"
#include "sys/process/guardian.h"

namespace viaduct::xdp {

// What has to be off so that what is in a frame's bytes is all there is to it: XDP sees neither
// partial checksums, tags nor segment sizes that sk_buffs have beside them.
struct NeededOff {
  UniqueFd network;
  std::string interface;
  int ifindex = 0;
  std::vector<sys::Offloads> kinds;
};
// Of the interface, and of the other end of a veth pair, by which it gets its frames. `kind`: of
// the port, for messages: DPDK and netmap get no more than XDP of what is beside a frame. Throws
// UsageError if there is no such interface in the calling thread's namespace; EnvironmentError if
// its frames cannot be had by AF_XDP: of loopback, bridges and others that the kernel's own
// software makes, of a peer out of reach.
std::vector<NeededOff> OffloadsInTheWay(const std::string& interface,
                                        const std::string& kind = "AF_XDP");
// Names of those that are on.
std::vector<std::string> Active(const NeededOff& needed);
// Throws EnvironmentError if the driver does not let it.
void SwitchOff(const NeededOff& needed);

// Has them off from its construction on. A process that it forks switches on again what was on
// when the first of several ports on an interface, or on the ends of a veth pair, was opened,
// once the last one is closed or its process has died. What was on is in /run/viaduct/.xdp
// meanwhile, by which they know of each other; if a guardian is killed, too, the next one there
// restores it.
class InterfaceGuardian {
 public:
  // In the calling thread's namespace. `kind` as above. Throws Error.
  explicit InterfaceGuardian(const std::string& interface, const std::string& kind = "AF_XDP");
  // Whose end it waits for first, and which it detaches if it is one that is left
  // (Program::Left()).
  void Guard(const Program& program);

 private:
  std::unique_ptr<sys::Guardian> guardian_;
};

}  // namespace viaduct::xdp
