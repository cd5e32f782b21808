// What makes a node's kernel pass packets up to a simulator whose protocol finds routes on demand.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/wire/address.h"
#include "lab/builder.h"

namespace viaduct::lab {

// The TUN device in such a node's namespace.
inline constexpr char kUpcallDevice[] = "upcall0";

// A next hop, as the simulator knows it.
struct Neighbour {
  std::string interface;  // of the node
  wire::IpAddress address;
  wire::MacAddress mac;
};

// What passes a node's packets up.
struct Upcalls {
  UniqueFd device;                 // the TUN device's other end, with which it vanishes
  int ifindex = 0;                 // of the TUN device
  std::vector<UniqueFd> programs;  // must be kept open: with them the copies end
};

// Gives the node default routes of these families, of the last resort, to a new TUN device, and
// returns the device's other end (IFF_NO_PI, non-blocking). Packets come after their origin
// (plane/bpf/upcall_program.h); of the flows that have a route, copies go up. The connected
// networks' routes go, because the protocol finds its neighbours itself and may reach one by a
// detour; those to link-local addresses stay. To be called once per node. Throws EnvironmentError
// if the kernel cannot do it.
Upcalls OpenUpcalls(Lab& lab, const std::string& node, const std::set<wire::Family>& families);

// Packets to these neighbours wait in the kernel until they are released, and then go in their
// order. So the simulator can send what it has kept before the first packet takes a new route.
void HoldNeighbours(Lab& lab, const std::string& node, const std::vector<Neighbour>& neighbours);
void ReleaseNeighbours(Lab& lab, const std::string& node, const std::vector<Neighbour>& neighbours);

}  // namespace viaduct::lab
