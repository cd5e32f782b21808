// The data planes, which forward a node's packets: a table with one row each.
//
// To add a data plane, write a class and a row of the table. The class is a RouteSink that passes
// the changes of the node's routes to the forwarder. Its Reinstall() restores what was lost by a
// restart of the node's interfaces, of the forwarder or of its programs. The row describes the
// layout of the lab that the data plane needs and the features that it does not support.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plane/fib/route_sink.h"

namespace viaduct::fib {

// Requirements of a data plane on a node's namespace.
struct NodeLayout {
  // Whether the node's addresses are on its interfaces and the kernel answers for them. Otherwise
  // the interfaces carry frames only (no addresses, no ARP), and the addresses are on the device of
  // the node's programs.
  bool addresses_on_interfaces;
  // Whether the kernel forwards packets between the interfaces.
  bool kernel_forwards;
  // Whether segmentation, checksum and similar offloads remain on, which makes TCP five times as
  // fast. Offloads must be off if a process reads frames in the form that they have on a wire.
  bool keeps_offloads;
  // Whether the node's plain wires are connected through the fabric, where the hops of a path are
  // joined (lab/joined_paths.h).
  bool joins_paths = false;
};

// The process that forwards a node's packets.
enum class ForwardsIn { kKernel, kForwarder, kSimulator };
// Returns "kernel", "forwarder" or "simulator".
const char* NameOf(ForwardsIn place);

// The frames that the simulator's device on an interface must receive.
enum class PortFrames {
  kAll,         // all frames: the simulator forwards them itself
  kControl,     // only frames of the simulator's protocols
  kPdus,        // only the PDUs between RBridges
  kOfProtocol,  // only frames of the type ProgramDescription::control_type
};

// Features that a scenario may require of a node, and that not every data plane supports.
enum class Feature {
  kKernelStack,    // packets for the node end in the kernel's stack
  kProgramDevice,  // the node's programs use a TUN device whose other end is the simulator
  kSimulatedTcp,   // TCP sockets of the simulator
  kContainer,      // the node is a container that exists already
  kMulticast,      // routes to multicast groups, and sockets that join groups
};

struct Refusal {
  Feature feature;
  std::string_view reason;
};

// The properties of a node that the sink of its routes needs.
struct NodePlace {
  int namespace_fd = -1;           // must outlive the sink
  std::vector<std::string> ports;  // all interfaces of the node
  bool forwards_ipv4 = true, forwards_ipv6 = true;
  // The node's interfaces that are veths of the lab, without physical interfaces.
  std::vector<std::string> interfaces;
  // The veths whose other end is another node's interface, with nothing between the ends (no
  // queueing discipline, no bridge, no path engine). If this node's data plane keeps offloads, the
  // map has only veths that keep their offloads at both ends. The value is the MAC address of the
  // other end.
  std::map<std::string, wire::MacAddress> wires;
  std::optional<forward::ProgramDescription> program;  // the program of kUserspaceProgram
};

// The maximum number of file descriptors that the broker holds for a node's sink.
struct DescriptorsNeeded {
  size_t per_node = 0, per_interface = 0;
};

struct DataPlane;

struct Choice {
  const DataPlane* plane;  // never a plane that stands for a choice (kAutoPlane)
  std::string reason;      // for example "requested by the scenario"
};

struct DataPlane {
  std::string_view name;  // the name in scenario files
  NodeLayout layout;
  PortFrames port_frames;
  // Creates the sink for the routes of a node, whose interfaces already have their addresses.
  std::unique_ptr<RouteSink> (*make_sink)(const NodePlace& place);
  std::span<const Refusal> refusals;
  DescriptorsNeeded descriptors = {};
  // Chooses the data plane of a node for which the scenario names this plane. If the pointer is
  // null, the node gets this plane. `by_hop`: the reason why the node's packets are not joined over
  // several hops.
  Choice (*choose)(const NodePlace& place, const std::string& by_hop) = nullptr;
  // The plane that replaces this plane if several hops of a path can be joined; the lab chooses
  // between the two planes. Null if no plane replaces this plane.
  const DataPlane* joined = nullptr;
  // The data plane that an RBridge (WMRP) gets if a scenario names this plane; null if this plane
  // cannot forward frames.
  const DataPlane* bridged = nullptr;
  // The process that forwards the node's packets. The simulator also holds the routes.
  ForwardsIn forwards_in = ForwardsIn::kKernel;

  bool in_simulator() const { return forwards_in == ForwardsIn::kSimulator; }
  // Returns the reason why the plane does not support this feature; empty if it does.
  std::string_view Unavailable(Feature feature) const;
};

extern const DataPlane kKernelPlane;  // the kernel forwards by routes of the simulator's protocols
extern const DataPlane kEbpfPlane;    // an eBPF program before the kernel uses the kernel's routes
extern const DataPlane kJoinedPlane;  // packets pass all hops at once, by the kernel's routes
extern const DataPlane kUserspacePlane;  // an unprivileged process forwards by the kernel's routes
extern const DataPlane kAutoPlane;       // the plane that ChoosePlane() or the lab chooses
extern const DataPlane kSimulatorPlane;  // the simulator itself, which forwards each frame

// The planes of an RBridge (WMRP), which forwards frames. Scenarios cannot name these planes:
// DataPlane::bridged selects them.
extern const DataPlane kUserspaceRBridge;  // a process without privileges
extern const DataPlane kEbpfRBridge;       // an eBPF program
extern const DataPlane kAutoRBridge;       // one of these two planes: ChoosePlane() chooses it

// The plane of a node whose frames a forwarding program of the scenario forwards
// (NodePlace::program).
extern const DataPlane kUserspaceProgram;

// Returns the plane that a node gets if the scenario asks for `asked`, and the reason
// (DataPlane::choose). For kAutoRBridge chooses kEbpfRBridge if eBPF is available. For kAutoPlane
// chooses the faster of the planes `kernel` and `ebpf` among those that this machine supports and
// that have an effect for this node. Tests whether eBPF is available, so it needs root.
Choice ChoosePlane(const DataPlane& asked, const NodePlace& place, const std::string& by_hop = "");

// Returns the plane of this name, or null. Planes that forward frames have names too
// ("userspace-rbridge", "program").
const DataPlane* FindDataPlane(std::string_view name);
// Returns the planes that a scenario can name, in the order in which messages and documents list
// them.
std::span<const DataPlane* const> DataPlanes();
// Returns the names of DataPlanes() for a message: "kernel, ebpf, joined, userspace, auto or
// simulator".
std::string DataPlaneNames();

}  // namespace viaduct::fib
