// Upcalls: a node's kernel passes packets up to a simulator whose protocol finds routes on demand.
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

// A next hop, as known to the simulator.
struct Neighbour {
  std::string interface;  // an interface of the node
  wire::IpAddress address;
  wire::MacAddress mac;
};

// The descriptors that keep a node's upcalls working.
struct Upcalls {
  UniqueFd device;                 // the TUN device's other end; closing it removes the device
  int ifindex = 0;                 // the TUN device's index
  std::vector<UniqueFd> programs;  // eBPF; closing them ends the copies
};

// Adds default routes of these families, of the last resort, from the node to a new TUN device, and
// returns the device's other end (IFF_NO_PI, non-blocking). Each packet is preceded by its origin
// (plane/bpf/upcall_program.h); of the flows that have a route, copies are sent up. The connected
// networks' routes are removed, because the protocol finds its neighbours itself and may reach one
// by a detour; those to link-local addresses stay. Must be called once per node. Throws
// EnvironmentError if the kernel cannot do it.
Upcalls OpenUpcalls(Lab& lab, const std::string& node, const std::set<wire::Family>& families);

// HoldNeighbours() keeps packets to these neighbours in the kernel; ReleaseNeighbours() sends them
// in their order. So the simulator can send the packets that it has kept before the first packet
// takes a new route.
void HoldNeighbours(Lab& lab, const std::string& node, const std::vector<Neighbour>& neighbours);
void ReleaseNeighbours(Lab& lab, const std::string& node, const std::vector<Neighbour>& neighbours);

}  // namespace viaduct::lab
