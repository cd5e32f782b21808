#include "fib/data_plane.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "fib/kernel_routes.h"

namespace viaduct::fib {
namespace {

// For the simulator, which uses its own tables.
class NoRoutes final : public RouteSink {
  void DoApply(const RouteChanges&) override {}
};

template <class Sink>
std::unique_ptr<RouteSink> MakeSink(int namespace_fd) {
  return std::make_unique<Sink>(namespace_fd);
}

std::unique_ptr<RouteSink> MakeNone(int) { return std::make_unique<NoRoutes>(); }

constexpr std::array kRefusedByKernel = {
    Refusal{Feature::kProgramDevice,
            "program addresses are for nodes whose data plane is the simulator"},
    Refusal{Feature::kSimulatedTcp,
            "ns-3's TCP cannot reach the network when the kernel is the data plane; run a real "
            "program, or use the simulator as this node's data plane"},
};
constexpr std::array kRefusedBySimulator = {
    Refusal{Feature::kKernelStack, "the kernel always forwards a host's packets"},
};

}  // namespace

constinit const DataPlane kKernelPlane{
    "kernel",
    {.addresses_on_interfaces = true, .kernel_forwards = true, .keeps_offloads = true},
    PortFrames::kControl,
    MakeSink<KernelRoutes>,
    kRefusedByKernel};

constinit const DataPlane kSimulatorPlane{
    "simulator",
    {.addresses_on_interfaces = false, .kernel_forwards = false, .keeps_offloads = false},
    PortFrames::kAll,
    MakeNone,
    kRefusedBySimulator};

namespace {
constexpr std::array kDataPlanes = {&kKernelPlane, &kSimulatorPlane};
}  // namespace

std::string_view DataPlane::WhyNot(Feature feature) const {
  const auto found = std::ranges::find(refusals, feature, &Refusal::feature);
  return found == refusals.end() ? "" : found->reason;
}

const DataPlane* FindDataPlane(std::string_view name) {
  const auto found = std::ranges::find(kDataPlanes, name, &DataPlane::name);
  return found == kDataPlanes.end() ? nullptr : *found;
}

std::string DataPlaneNames() {
  std::string names;
  for (const DataPlane* plane : kDataPlanes) {
    names += fmt::format("{}{}", names.empty() ? "" : " or ", plane->name);
  }
  return names;
}

}  // namespace viaduct::fib
