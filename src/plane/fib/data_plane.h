// The data planes, which forward a node's packets: a table with one row each.
//
// A further data plane is a class and a row. The class is a RouteSink that passes the changes of
// the node's routes to the forwarder.
// Reinstall() restores what was lost by a restart of the node's interfaces, of the forwarder or of
// its programs. The row describes the layout of the lab that the data plane needs and the features
// that it does not support.
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
  // The node's addresses are on its interfaces and the kernel answers for them. Otherwise the
  // interfaces carry frames only (no addresses, no ARP), and the addresses are on the device of the
  // node's programs.
  bool addresses_on_interfaces;
  // The kernel forwards packets between the interfaces.
  bool kernel_forwards;
  // Segmentation, checksum and similar offloads stay on, which makes TCP five times as fast. They
  // must be off if frames are read that must look as on a wire.
  bool keeps_offloads;
  // The node's plain wires lead through the fabric, where the hops of a path are joined
  // (lab/joined_paths.h).
  bool joins_paths = false;
};

// The frames that the simulator's device on an interface must receive.
enum class PortFrames {
  kAll,         // the simulator forwards them itself
  kControl,     // only those of the simulator's protocols
  kPdus,        // only the PDUs between RBridges
  kOfProtocol,  // only those of ProgramDescription::control_type
};

// Features that a scenario may require of a node, and that not every data plane supports.
enum class Feature {
  kKernelStack,    // packets for the node end in the kernel's stack
  kProgramDevice,  // the node's programs are behind a TUN device whose other end is the simulator
  kSimulatedTcp,   // TCP sockets of the simulator
  kContainer,      // the node is a container that exists already
  kMulticast,      // routes to groups, and sockets that join them
};

struct Refusal {
  Feature feature;
  std::string_view reason;
};

// A node, for the sink of its routes.
struct NodePlace {
  int namespace_fd = -1;           // must outlive the sink
  std::vector<std::string> ports;  // all interfaces of the node
  bool forwards_ipv4 = true, forwards_ipv6 = true;
  // The node's interfaces that are veths of the lab; a physical one is not among them.
  std::vector<std::string> interfaces;
  // The veths whose other end is another node's interface, with nothing between the ends (no
  // queueing discipline, no bridge, no path engine), and which keep their offloads at both ends, if
  // this node's data plane keeps them at all. Each with the address of its other end.
  std::map<std::string, wire::MacAddress> wires;
  std::optional<forward::ProgramDescription> program;  // for kUserspaceProgram
};

// The maximum number of file descriptors that the broker holds for a node's sink.
struct DescriptorsNeeded {
  size_t per_node = 0, per_interface = 0;
};

struct DataPlane;

struct Choice {
  const DataPlane* plane;  // never one that leaves the choice open
  std::string reason;      // "the scenario asks for it"
};

struct DataPlane {
  std::string_view name;  // the name in scenario files
  NodeLayout layout;
  PortFrames port_frames;
  // Creates the sink for the routes of a node, whose interfaces have their addresses already.
  std::unique_ptr<RouteSink> (*make_sink)(const NodePlace& place);
  std::span<const Refusal> refusals;
  DescriptorsNeeded descriptors = {};
  // Chooses the plane of a node for which the scenario gives this one; null: this one. `by_hop` is
  // the reason why the node's packets are not joined over several hops.
  Choice (*choose)(const NodePlace& place, const std::string& by_hop) = nullptr;
  // The plane that replaces this one where several hops are joined; null: none does. A plane that
  // has one leaves the choice to the lab.
  const DataPlane* joined = nullptr;
  // The plane of an RBridge (WMRP) where a scenario gives this one; null: it forwards no frames.
  const DataPlane* bridged = nullptr;
  // The simulator forwards, and holds the routes.
  bool in_simulator = false;

  // Returns the reason why the plane does not support this feature; empty: it does.
  std::string_view Unavailable(Feature feature) const;
};

extern const DataPlane
    kKernelPlane;                   // the kernel, by the routes that the simulator's protocols find
extern const DataPlane kEbpfPlane;  // an eBPF program before the kernel, by the same routes
extern const DataPlane kJoinedPlane;     // all hops of a path in one step, by the same routes
extern const DataPlane kUserspacePlane;  // a process without privileges, by the same routes
extern const DataPlane kAutoPlane;       // one of these: ChoosePlane()
extern const DataPlane kSimulatorPlane;  // the simulator itself, frame by frame

// The planes of an RBridge (WMRP), which forwards frames: no scenario names them
// (DataPlane::bridged).
extern const DataPlane kUserspaceRBridge;  // a process without privileges
extern const DataPlane kEbpfRBridge;       // an eBPF program
extern const DataPlane kAutoRBridge;       // one of these: ChoosePlane()

// A forwarding program of the scenario forwards the node's frames (NodePlace::program).
extern const DataPlane kUserspaceProgram;

// Returns the plane that a node gets, and the reason: DataPlane::choose. For kAutoRBridge it is
// eBPF if available; for kAutoPlane the faster of `kernel` and `ebpf` that this machine has and
// that has an effect for this node. Tries whether eBPF is available, so it needs root.
Choice ChoosePlane(const DataPlane& asked, const NodePlace& place, const std::string& by_hop = "");

// Returns the plane of this name, or null; planes that forward frames have names too
// ("userspace-rbridge", "program").
const DataPlane* FindDataPlane(std::string_view name);
// Returns the planes that a scenario can name, in the order of messages and documents.
std::span<const DataPlane* const> DataPlanes();
// Returns the names of DataPlanes() for a message: "kernel, ebpf, joined, userspace, auto or
// simulator".
std::string DataPlaneNames();

}  // namespace viaduct::fib
