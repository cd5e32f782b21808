// Who forwards a node's packets: the rungs of the ladder of data planes, a row each.
//
// A further rung is a class and a row. The class is a RouteSink that takes the differences of the
// node's routes to whatever forwards:
//  - a userspace forwarder reads all frames of the node's interfaces (PortFrames::kAll for it,
//  kControl for the
//    simulator's devices), so it keeps no offloads and the kernel neither answers nor forwards;
//  - eBPF redirects from interface to interface what its maps know and leaves the rest to the
//  kernel, so it
//    stands on the kernel's layout and its sink fills both the kernel's table and the maps;
//  - the joined path does a whole path's hops in one step at the first one. It stands on the same
//  layout, and
//    its sink refuses (RouteError, with the reason) the routes of paths with a hop that must be
//    emulated packet by packet, or whose TTL, counters or loss it cannot reproduce: every rung
//    gives the same answer.
// Reinstall() puts back what a restart of the node's interfaces, of the forwarder or of its
// programs lost. The row says what the lab has to look like for it and what it cannot honour.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "fib/route_sink.h"

namespace viaduct::fib {

// What a data plane needs of a node's namespace.
struct NodeLayout {
  // The node's addresses are on its interfaces and the kernel answers for them. Otherwise the
  // interfaces carry frames only (no addresses, no ARP), and the addresses are on the device of the
  // node's programs.
  bool addresses_on_interfaces;
  // The kernel forwards between the interfaces.
  bool kernel_forwards;
  // Segmentation, checksums and the like stay on, which is worth a factor of five to TCP. Not where
  // frames are read that must be as they would be on a wire.
  bool keeps_offloads;
};

// Which frames the simulator's device on an interface must get.
enum class PortFrames {
  kAll,      // it forwards them itself
  kControl,  // what the simulator's protocols talk on
};

// What a scenario may ask of a node that not every data plane honours.
enum class Feature {
  kKernelStack,    // packets for the node end in the kernel's stack
  kProgramDevice,  // the node's programs are behind a TUN device whose other end is the simulator
  kSimulatedTcp,   // TCP sockets of the simulator's own
};

struct Refusal {
  Feature feature;
  std::string_view reason;
};

struct DataPlane {
  std::string_view name;  // the users' word
  NodeLayout layout;
  PortFrames port_frames;
  // What takes the routes of the node with this namespace.
  std::unique_ptr<RouteSink> (*make_sink)(int namespace_fd);
  std::span<const Refusal> refusals;

  // Why it cannot honour this; empty: it can.
  std::string_view WhyNot(Feature feature) const;
};

extern const DataPlane
    kKernelPlane;  // the kernel, by the routes that the simulator's protocols find
extern const DataPlane kSimulatorPlane;  // the simulator itself, frame by frame

// Null where there is none of this name.
const DataPlane* FindDataPlane(std::string_view name);
// All names for a message: "kernel or simulator".
std::string DataPlaneNames();

}  // namespace viaduct::fib
