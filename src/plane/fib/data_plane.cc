#include "plane/fib/data_plane.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "plane/bpf/copy_filter.h"
#include "plane/bpf/forward_program.h"
#include "plane/fib/ebpf_rbridge.h"
#include "plane/fib/ebpf_routes.h"
#include "plane/fib/kernel_routes.h"
#include "plane/fib/userspace_frames.h"
#include "plane/fib/userspace_routes.h"

namespace viaduct::fib {
namespace {

// The sink of routes for nodes whose data plane is the simulator, which uses its own tables: it
// ignores all routes.
class NoRoutes final : public RouteSink {
  void DoApply(const RouteChanges&) override {}
};

std::unique_ptr<RouteSink> MakeKernelRoutes(const NodePlace& place) {
  return std::make_unique<KernelRoutes>(place.namespace_fd);
}

std::unique_ptr<RouteSink> MakeEbpfRoutes(const NodePlace& place) {
  return std::make_unique<EbpfRoutes>(place);
}

std::unique_ptr<RouteSink> MakeUserspaceRoutes(const NodePlace& place) {
  return std::make_unique<UserspaceRoutes>(place);
}

std::unique_ptr<RouteSink> MakeUserspaceProgram(const NodePlace& place) {
  return std::make_unique<UserspaceFrames>(place);
}

std::unique_ptr<RouteSink> MakeUserspaceRBridge(const NodePlace& place) {
  return std::make_unique<UserspaceRBridge>(place);
}

std::unique_ptr<RouteSink> MakeEbpfRBridge(const NodePlace& place) {
  return std::make_unique<EbpfRBridge>(place);
}

std::unique_ptr<RouteSink> MakeNone(const NodePlace&) { return std::make_unique<NoRoutes>(); }

template <const DataPlane& kOpen>
std::unique_ptr<RouteSink> MakeChosen(const NodePlace& place) {
  return ChoosePlane(kOpen, place).plane->make_sink(place);
}

constexpr const char* kAsked = "requested by the scenario";

Choice ChooseForRouter(const NodePlace& place, const std::string& by_hop) {
  if (place.interfaces.size() < 2 || place.wires.empty()) {
    return {&kKernelPlane,
            "the node has fewer than two interfaces, or no interface that is connected directly "
            "(without a SPEC) to another node, so eBPF cannot forward packets"};
  }
  static const std::string reason = bpf::Unavailable();
  if (!reason.empty()) return {&kKernelPlane, reason};
  return {
      &kEbpfPlane,
      "the fastest data plane that forwards hop by hop; data plane joined is not used: " + by_hop};
}

Choice ChooseForRBridge(const NodePlace&, const std::string&) {
  static const std::string reason = bpf::RBridgeUnavailable();
  if (!reason.empty()) return {&kUserspaceRBridge, reason};
  return {&kEbpfRBridge, "the fastest data plane for an RBridge"};
}

// Always chooses kUserspacePlane. If this machine cannot discard the kernel's copies, the returned
// reason also describes this disadvantage.
Choice ChooseUserspace(const NodePlace&, const std::string&) {
  static const std::string reason = bpf::CopyFilterUnavailable();
  if (reason.empty()) return {&kUserspacePlane, kAsked};
  return {
      &kUserspacePlane,
      fmt::format(
          "{}; the kernel of the node gets a copy of every packet, which makes the node slower: {}",
          kAsked, reason)};
}

constexpr Refusal kNoProgramDevice{Feature::kProgramDevice,
                                   "program addresses (of programs on a TUN device of the node) "
                                   "are supported only on nodes whose data plane is the simulator"};
constexpr Refusal kNoSimulatedTcp{
    Feature::kSimulatedTcp,
    "ns-3's TCP cannot reach the network when the kernel is the data plane; run a real "
    "program, or use the simulator as this node's data plane"};
constexpr Refusal kNoContainer{
    Feature::kContainer, "the data plane of a container is always its kernel; remove data_plane"};

constexpr std::array kRefusedByKernel = {kNoProgramDevice, kNoSimulatedTcp};
constexpr std::array kRefusedBeforeKernel = {kNoProgramDevice, kNoSimulatedTcp, kNoContainer};
constexpr std::array kRefusedByRBridge = {
    Refusal{Feature::kKernelStack,
            "an RBridge has no IP stack, so a host cannot use this data plane; remove data_plane"},
    Refusal{Feature::kProgramDevice,
            "the node is an RBridge, which has no IP address: programs cannot run on it"},
    Refusal{Feature::kMulticast,
            "the node is an RBridge, which forwards Ethernet frames, not IP packets"},
    kNoContainer,
};
constexpr std::array kRefusedByProgram = {
    Refusal{Feature::kKernelStack,
            "a node that forwards frames with a program has no IP stack, so a host cannot use this "
            "data plane; remove data_plane"},
    Refusal{Feature::kProgramDevice,
            "the node forwards frames with a program and has no IP address: other programs cannot "
            "run on it"},
    Refusal{Feature::kMulticast,
            "the node forwards Ethernet frames with a program, not IP packets"},
    kNoContainer,
};
constexpr std::array kRefusedBySimulator = {
    Refusal{Feature::kKernelStack,
            "the data plane of a host is always its kernel; remove data_plane"},
    Refusal{Feature::kMulticast, "the data plane of the node is the simulator"},
    kNoContainer,
};

// The layout of the data planes `kernel`, `ebpf` and `auto`. The kernel's stack handles all packets
// that an eBPF program does not forward.
constexpr NodeLayout kKernelLayout{
    .addresses_on_interfaces = true, .kernel_forwards = true, .keeps_offloads = true};
constexpr NodeLayout kJoinedLayout{.addresses_on_interfaces = true,
                                   .kernel_forwards = true,
                                   .keeps_offloads = true,
                                   .joins_paths = true};
// The layout of the forwarder in userspace. The kernel answers for the node and sends the node's
// packets, but forwards nothing. Offloads are off, because the forwarder reads frames in the form
// that they have on a wire.
constexpr NodeLayout kUserspaceLayout{
    .addresses_on_interfaces = true, .kernel_forwards = false, .keeps_offloads = false};
// The layout of data planes that forward frames. The node's kernel takes no part and has no
// addresses. Offloads are off, because the data plane reads frames in the form that they have on a
// wire.
constexpr NodeLayout kFramesOnly{
    .addresses_on_interfaces = false, .kernel_forwards = false, .keeps_offloads = false};

// The numbers of file descriptors. An eBPF program needs descriptors for its tables, and one for
// the link to each interface. The forwarder needs descriptors for a node's memory. During its start
// it also needs four descriptors for each interface: three sockets, and the broker's copy of one of
// these sockets.
constexpr DescriptorsNeeded kForProgram{.per_node = 12, .per_interface = 1};
constexpr DescriptorsNeeded kForForwarder{.per_node = 13, .per_interface = 4};
constexpr DescriptorsNeeded kForBoth{
    .per_node = kForProgram.per_node + kForForwarder.per_node,
    .per_interface = kForProgram.per_interface + kForForwarder.per_interface};

}  // namespace

constinit const DataPlane kKernelPlane{.name = "kernel",
                                       .layout = kKernelLayout,
                                       .port_frames = PortFrames::kControl,
                                       .make_sink = MakeKernelRoutes,
                                       .refusals = kRefusedByKernel};

constinit const DataPlane kEbpfPlane{.name = "ebpf",
                                     .layout = kKernelLayout,
                                     .port_frames = PortFrames::kControl,
                                     .make_sink = MakeEbpfRoutes,
                                     .refusals = kRefusedBeforeKernel,
                                     .descriptors = kForProgram,
                                     .bridged = &kEbpfRBridge};

// The plane `joined` passes routes to the kernel, because the kernel forwards packets whose hops
// cannot be joined. The lab counts the descriptors of the program that joins the hops.
constinit const DataPlane kJoinedPlane{.name = "joined",
                                       .layout = kJoinedLayout,
                                       .port_frames = PortFrames::kControl,
                                       .make_sink = MakeKernelRoutes,
                                       .refusals = kRefusedBeforeKernel};

constinit const DataPlane kUserspacePlane{.name = "userspace",
                                          .layout = kUserspaceLayout,
                                          .port_frames = PortFrames::kControl,
                                          .make_sink = MakeUserspaceRoutes,
                                          .refusals = kRefusedBeforeKernel,
                                          .descriptors = kForBoth,
                                          .choose = ChooseUserspace,
                                          .bridged = &kUserspaceRBridge,
                                          .forwards_in = ForwardsIn::kForwarder};

constinit const DataPlane kAutoPlane{.name = "auto",
                                     .layout = kKernelLayout,
                                     .port_frames = PortFrames::kControl,
                                     .make_sink = MakeChosen<kAutoPlane>,
                                     .refusals = kRefusedBeforeKernel,
                                     .descriptors = kForProgram,
                                     .choose = ChooseForRouter,
                                     .joined = &kJoinedPlane,
                                     .bridged = &kAutoRBridge};

constinit const DataPlane kSimulatorPlane{.name = "simulator",
                                          .layout = kFramesOnly,
                                          .port_frames = PortFrames::kAll,
                                          .make_sink = MakeNone,
                                          .refusals = kRefusedBySimulator,
                                          .bridged = &kSimulatorPlane,
                                          .forwards_in = ForwardsIn::kSimulator};

constinit const DataPlane kUserspaceRBridge{.name = "userspace-rbridge",
                                            .layout = kFramesOnly,
                                            .port_frames = PortFrames::kPdus,
                                            .make_sink = MakeUserspaceRBridge,
                                            .refusals = kRefusedByRBridge,
                                            .descriptors = kForForwarder,
                                            .forwards_in = ForwardsIn::kForwarder};

constinit const DataPlane kEbpfRBridge{.name = "ebpf-rbridge",
                                       .layout = kFramesOnly,
                                       .port_frames = PortFrames::kPdus,
                                       .make_sink = MakeEbpfRBridge,
                                       .refusals = kRefusedByRBridge,
                                       .descriptors = kForProgram};

constinit const DataPlane kAutoRBridge{.name = "auto-rbridge",
                                       .layout = kFramesOnly,
                                       .port_frames = PortFrames::kPdus,
                                       .make_sink = MakeChosen<kAutoRBridge>,
                                       .refusals = kRefusedByRBridge,
                                       .descriptors = kForBoth,
                                       .choose = ChooseForRBridge};

constinit const DataPlane kUserspaceProgram{.name = "program",
                                            .layout = kFramesOnly,
                                            .port_frames = PortFrames::kOfProtocol,
                                            .make_sink = MakeUserspaceProgram,
                                            .refusals = kRefusedByProgram,
                                            .descriptors = kForForwarder,
                                            .forwards_in = ForwardsIn::kForwarder};

namespace {
constexpr std::array kDataPlanes = {&kKernelPlane,    &kEbpfPlane, &kJoinedPlane,
                                    &kUserspacePlane, &kAutoPlane, &kSimulatorPlane};
constexpr std::array kFramePlanes = {&kUserspaceRBridge, &kEbpfRBridge, &kAutoRBridge,
                                     &kUserspaceProgram};
}  // namespace

const char* NameOf(ForwardsIn place) {
  constexpr const char* kNames[] = {"kernel", "forwarder", "simulator"};
  return kNames[static_cast<size_t>(place)];
}

std::string_view DataPlane::Unavailable(Feature feature) const {
  const auto found = std::ranges::find(refusals, feature, &Refusal::feature);
  return found == refusals.end() ? "" : found->reason;
}

Choice ChoosePlane(const DataPlane& asked, const NodePlace& place, const std::string& by_hop) {
  return asked.choose ? asked.choose(place, by_hop) : Choice{&asked, kAsked};
}

std::span<const DataPlane* const> DataPlanes() { return kDataPlanes; }

const DataPlane* FindDataPlane(std::string_view name) {
  const auto bridged = std::ranges::find(kFramePlanes, name, &DataPlane::name);
  if (bridged != kFramePlanes.end()) return *bridged;
  const auto found = std::ranges::find(kDataPlanes, name, &DataPlane::name);
  return found == kDataPlanes.end() ? nullptr : *found;
}

std::string DataPlaneNames() {
  std::string names;
  for (const DataPlane* plane : kDataPlanes) {
    const bool is_last = plane == kDataPlanes.back();
    names += fmt::format("{}{}", names.empty() ? "" : is_last ? " or " : ", ", plane->name);
  }
  return names;
}

}  // namespace viaduct::fib
