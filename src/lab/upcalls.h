// Upcalls: a node's kernel passes packets up to a simulator whose protocol finds routes on demand.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/wire/address.h"
#include "lab/builder.h"

namespace viaduct::lab {

// The name of the TUN device in the namespace of a node with upcalls.
inline constexpr char kUpcallDevice[] = "upcall0";

// A next hop, as the simulator knows it.
struct Neighbour {
  std::string interface;  // an interface of the node
  wire::IpAddress address;
  wire::MacAddress mac;
};

// The descriptors that keep a node's upcalls working.
struct Upcalls {
  UniqueFd device;                 // the TUN device's other end; closing it removes the device
  int ifindex = 0;                 // the TUN device's index
  std::vector<UniqueFd> programs;  // eBPF programs; closing them ends the copying of packets
};

// Adds default routes for `families` with the highest metric (a last resort) from the node to a new
// TUN device, and returns the device's other end (IFF_NO_PI, non-blocking). Each packet from the
// device is preceded by its origin (plane/bpf/upcall_program.h); packets of flows that have a route
// are copied to the device, too. The routes of connected networks are removed, because the protocol
// finds its neighbours itself and may reach a neighbour by a detour; routes to link-local addresses
// are kept. Must be called once per node. Throws EnvironmentError if the kernel lacks a feature
// that upcalls need.
Upcalls OpenUpcalls(Lab& lab, const std::string& node, const std::set<wire::Family>& families);

// HoldNeighbours() keeps packets to the neighbours in the kernel; ReleaseNeighbours() sends the
// kept packets in their order. Between the two calls the simulator can send the packets that it has
// kept itself, so that these packets leave before the first packet that the kernel has kept.
void HoldNeighbours(Lab& lab, const std::string& node, const std::vector<Neighbour>& neighbours);
void ReleaseNeighbours(Lab& lab, const std::string& node, const std::vector<Neighbour>& neighbours);

}  // namespace viaduct::lab
