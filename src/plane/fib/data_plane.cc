#include "plane/fib/data_plane.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "plane/bpf/copy_filter.h"
#include "plane/bpf/forwarder.h"
#include "plane/fib/ebpf_rbridge.h"
#include "plane/fib/ebpf_routes.h"
#include "plane/fib/kernel_routes.h"
#include "plane/fib/userspace_frames.h"
#include "plane/fib/userspace_routes.h"

namespace viaduct::fib {
namespace {

// For the simulator, which uses its own tables.
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

template <const DataPlane& kOpen>
std::unique_ptr<RouteSink> MakeChosen(const NodePlace& place) {
  return ChoosePlane(kOpen, place).plane->make_sink(place);
}

std::unique_ptr<RouteSink> MakeNone(const NodePlace&) { return std::make_unique<NoRoutes>(); }

constexpr std::array kRefusedByKernel = {
    Refusal{Feature::kProgramDevice,
            "program addresses are for nodes whose data plane is the simulator"},
    Refusal{Feature::kSimulatedTcp,
            "ns-3's TCP cannot reach the network when the kernel is the data plane; run a real "
            "program, or use the simulator as this node's data plane"},
};
constexpr std::array kRefusedByRBridge = {
    Refusal{Feature::kKernelStack, "an RBridge has no stack"},
    Refusal{Feature::kProgramDevice, "an RBridge has no addresses for programs"},
};
constexpr std::array kRefusedByProgram = {
    Refusal{Feature::kKernelStack, "a node that forwards frames by a program has no stack"},
    Refusal{Feature::kProgramDevice,
            "a node that forwards frames by a program has no addresses for others"},
};
constexpr std::array kRefusedBySimulator = {
    Refusal{Feature::kKernelStack, "the kernel always forwards a host's packets"},
};

}  // namespace

constinit const DataPlane kKernelPlane{
    "kernel",
    {.addresses_on_interfaces = true, .kernel_forwards = true, .keeps_offloads = true},
    PortFrames::kControl,
    MakeKernelRoutes,
    kRefusedByKernel};

constexpr NodeLayout kFramesOnly{
    .addresses_on_interfaces = false, .kernel_forwards = false, .keeps_offloads = false};

// The kernel's stack is complete behind the program, so it needs what the kernel needs.
constinit const DataPlane kEbpfPlane{
    "ebpf",
    {.addresses_on_interfaces = true, .kernel_forwards = true, .keeps_offloads = true},
    PortFrames::kControl,
    MakeEbpfRoutes,
    kRefusedByKernel};

// The kernel does what cannot be joined.
constinit const DataPlane kJoinedPlane{"joined",
                                       {.addresses_on_interfaces = true,
                                        .kernel_forwards = true,
                                        .keeps_offloads = true,
                                        .joins_paths = true},
                                       PortFrames::kControl,
                                       MakeKernelRoutes,
                                       kRefusedByKernel};

// The kernel answers for the node and sends what it sends, but forwards nothing; the forwarder
// reads frames as they would be on a wire.
constinit const DataPlane kUserspacePlane{
    "userspace",
    {.addresses_on_interfaces = true, .kernel_forwards = false, .keeps_offloads = false},
    PortFrames::kControl,
    MakeUserspaceRoutes,
    kRefusedByKernel};

constinit const DataPlane kAutoPlane{
    "auto",
    {.addresses_on_interfaces = true, .kernel_forwards = true, .keeps_offloads = true},
    PortFrames::kControl,
    MakeChosen<kAutoPlane>,
    kRefusedByKernel};

constinit const DataPlane kSimulatorPlane{"simulator", kFramesOnly, PortFrames::kAll, MakeNone,
                                          kRefusedBySimulator};

// The node's kernel is not involved: an RBridge has no addresses, and its frames are taken from the
// interfaces as they would be on a wire.
constinit const DataPlane kUserspaceRBridge{"userspace-rbridge", kFramesOnly, PortFrames::kPdus,
                                            MakeUserspaceRBridge, kRefusedByRBridge};

constinit const DataPlane kEbpfRBridge{"ebpf-rbridge", kFramesOnly, PortFrames::kPdus,
                                       MakeEbpfRBridge, kRefusedByRBridge};

constinit const DataPlane kAutoRBridge{"auto-rbridge", kFramesOnly, PortFrames::kPdus,
                                       MakeChosen<kAutoRBridge>, kRefusedByRBridge};

constinit const DataPlane kUserspaceProgram{"program", kFramesOnly, PortFrames::kOfProtocol,
                                            MakeUserspaceProgram, kRefusedByProgram};

namespace {
constexpr const char* kAsked = "the scenario asks for it";
constexpr std::array kDataPlanes = {&kKernelPlane,    &kEbpfPlane, &kJoinedPlane,
                                    &kUserspacePlane, &kAutoPlane, &kSimulatorPlane};
constexpr std::array kFramePlanes = {&kUserspaceRBridge, &kEbpfRBridge, &kAutoRBridge,
                                     &kUserspaceProgram};

Choice ChooseRBridgePlane() {
  static const std::string why_not = bpf::WhyNoRBridge();
  if (!why_not.empty()) return {&kUserspaceRBridge, why_not};
  return {&kEbpfRBridge, "the fastest for an RBridge"};
}

std::string ReasonForUserspace() {
  static const std::string why_not = bpf::WhyNoCopyFilter();
  if (why_not.empty()) return kAsked;
  return fmt::format("{}; its kernel gets a copy of every packet, which makes it slower: {}",
                     kAsked, why_not);
}
}  // namespace

const DataPlane* OfRBridge(const DataPlane& asked) {
  if (&asked == &kUserspacePlane) return &kUserspaceRBridge;
  if (&asked == &kEbpfPlane) return &kEbpfRBridge;
  if (&asked == &kAutoPlane) return &kAutoRBridge;
  return &asked == &kSimulatorPlane ? &kSimulatorPlane : nullptr;
}

std::string_view DataPlane::WhyNot(Feature feature) const {
  const auto found = std::ranges::find(refusals, feature, &Refusal::feature);
  return found == refusals.end() ? "" : found->reason;
}

Choice ChoosePlane(const DataPlane& asked, const NodePlace& place, const std::string& by_hop) {
  if (&asked == &kAutoRBridge) return ChooseRBridgePlane();
  if (&asked == &kUserspacePlane) return {&asked, ReasonForUserspace()};
  if (&asked != &kAutoPlane) return {&asked, kAsked};
  if (place.interfaces.size() < 2 || place.wires.empty()) {
    return {&kKernelPlane, "no two interfaces between which eBPF would pass packets on"};
  }
  static const std::string why_not = bpf::WhyNot();
  if (!why_not.empty()) return {&kKernelPlane, why_not};
  return {&kEbpfPlane, "the fastest hop by hop: " + by_hop};
}

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
