// The data planes, which forward a node's packets: a table with one row each.
//
// A further data plane is a class and a row. The class is a RouteSink that passes the changes of
// the node's routes to the forwarder.
// Reinstall() restores what a restart of the node's interfaces, of the forwarder or of its programs
// lost. The row describes the layout of the lab that the data plane needs and the features it does
// not support.
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

// What a data plane needs of a node's namespace.
struct NodeLayout {
  // The node's addresses are on its interfaces and the kernel answers for them. Otherwise the
  // interfaces carry frames only (no addresses, no ARP), and the addresses are on the device of the
  // node's programs.
  bool addresses_on_interfaces;
  // The kernel forwards packets between the interfaces.
  bool kernel_forwards;
  // Segmentation, checksum and similar offloads stay on, which makes TCP five times as fast. Must
  // be off if frames are read that must look as on a wire.
  bool keeps_offloads;
  // Its plain wires lead through the fabric, where the hops of a path are joined
  // (lab/joined_paths.h).
  bool joins_paths = false;
};

// The frames that the simulator's device on an interface must receive.
enum class PortFrames {
  kAll,         // it forwards them itself
  kControl,     // only those of the simulator's protocols
  kPdus,        // only the PDUs between RBridges
  kOfProtocol,  // only those of ProgramDescription::control_type
};

// What a scenario may require of a node that not every data plane supports.
enum class Feature {
  kKernelStack,    // packets for the node end in the kernel's stack
  kProgramDevice,  // the node's programs are behind a TUN device whose other end is the simulator
  kSimulatedTcp,   // TCP sockets of the simulator's own
  kContainer,      // the node is a container that is there already
  kMulticast,      // routes to groups, and sockets that join them
};

struct Refusal {
  Feature feature;
  std::string_view reason;
};

// A node, for the sink of its routes.
struct NodePlace {
  int namespace_fd = -1;           // must outlive the sink
  std::vector<std::string> ports;  // all its interfaces
  bool forwards_ipv4 = true, forwards_ipv6 = true;
  // Those of its interfaces that are veths of the lab; a physical one is not among them.
  std::vector<std::string> interfaces;
  // Those of them whose other end is another node's interface, in whose way nothing stands (no
  // queueing discipline, no bridge, no path engine), and which keep their offloads at both ends, if
  // this node's data plane keeps them at all. With the address of that other end.
  std::map<std::string, wire::MacAddress> wires;
  std::optional<forward::ProgramDescription> program;  // of kUserspaceProgram
};

// File descriptors that the broker holds for a node's sink, at most.
struct DescriptorsNeeded {
  size_t per_node = 0, per_interface = 0;
};

struct DataPlane;

struct Choice {
  const DataPlane* plane;  // none that leaves the choice open
  std::string reason;      // "the scenario asks for it"
};

struct DataPlane {
  std::string_view name;  // as in scenario files
  NodeLayout layout;
  PortFrames port_frames;
  // Creates the sink for the routes of a node, whose interfaces have their addresses already.
  std::unique_ptr<RouteSink> (*make_sink)(const NodePlace& place);
  std::span<const Refusal> refusals;
  DescriptorsNeeded descriptors = {};
  // Chooses the plane of a node for which the scenario gives this one; null: this one. `by_hop` is
  // the reason why the node's packets are not joined over several hops.
  Choice (*choose)(const NodePlace& place, const std::string& by_hop) = nullptr;
  // What it becomes where several hops are joined; null: it stays what it is. A plane that has one
  // leaves the choice to the lab.
  const DataPlane* joined = nullptr;
  // The plane of an RBridge (WMRP) where a scenario gives this one; null: it forwards no frames.
  const DataPlane* bridged = nullptr;
  // The simulator forwards, and has the routes.
  bool in_simulator = false;

  // Why it does not support this feature; empty: it does.
  std::string_view WhyNot(Feature feature) const;
};

extern const DataPlane
    kKernelPlane;                   // the kernel, by the routes that the simulator's protocols find
extern const DataPlane kEbpfPlane;  // the same routes, by an eBPF program before the kernel
extern const DataPlane kJoinedPlane;     // the same routes; all hops of a path in one step
extern const DataPlane kUserspacePlane;  // the same routes, by a process without privileges
extern const DataPlane kAutoPlane;       // one of these: ChoosePlane()
extern const DataPlane kSimulatorPlane;  // the simulator itself, frame by frame

// The planes of an RBridge (WMRP), which forwards frames: no scenario names them
// (DataPlane::bridged).
extern const DataPlane kUserspaceRBridge;  // a process without privileges
extern const DataPlane kEbpfRBridge;       // an eBPF program
extern const DataPlane kAutoRBridge;       // one of these: ChoosePlane()

// A forwarding program of the scenario's forwards the node's frames (NodePlace::program).
extern const DataPlane kUserspaceProgram;

// The plane that a node gets, and why: DataPlane::choose. For kAutoRBridge eBPF if there is; for
// kAutoPlane the faster of `kernel` and `ebpf` that this machine has and that does something for
// this node. Tries whether there is eBPF, so it needs root.
Choice ChoosePlane(const DataPlane& asked, const NodePlace& place, const std::string& by_hop = "");

// Null if there is none of this name; those that forward frames have names too
// ("userspace-rbridge", "program").
const DataPlane* FindDataPlane(std::string_view name);
// Those that a scenario can name, in the order of messages and documents.
std::span<const DataPlane* const> DataPlanes();
// Their names for a message: "kernel, ebpf, joined, userspace, auto or simulator".
std::string DataPlaneNames();

}  // namespace viaduct::fib
