#include "plane/fib/data_plane.h"

#include <gtest/gtest.h>

namespace viaduct::fib {
namespace {

TEST(DataPlaneTest, IsFoundByTheUsersWord) {
  EXPECT_EQ(FindDataPlane("kernel"), &kKernelPlane);
  EXPECT_EQ(FindDataPlane("ebpf"), &kEbpfPlane);
  EXPECT_EQ(FindDataPlane("simulator"), &kSimulatorPlane);
  EXPECT_EQ(FindDataPlane("magic"), nullptr);
  EXPECT_EQ(DataPlaneNames(), "kernel, ebpf, joined, userspace, auto or simulator");
}

// Checks the fields that each row of the table of data planes must fill in; other code reads these
// fields instead of comparing names.
TEST(DataPlaneTest, EveryPlaneSaysWhatItNeeds) {
  for (const DataPlane* plane : DataPlanes()) {
    SCOPED_TRACE(plane->name);
    EXPECT_EQ(FindDataPlane(plane->name), plane);
    EXPECT_NE(plane->make_sink, nullptr);
    const bool kernels = plane->layout.kernel_forwards;
    // Forwarders other than the kernel and the simulator are programs, which need descriptors.
    EXPECT_EQ(plane->forwards_in == ForwardsIn::kForwarder, !kernels && !plane->in_simulator());
    if (!kernels && !plane->in_simulator()) {
      EXPECT_GT(plane->descriptors.per_node, 0U);
      EXPECT_GT(plane->descriptors.per_interface, 0U);
    }
    EXPECT_EQ(plane->in_simulator(), plane->port_frames == PortFrames::kAll);
    EXPECT_EQ(plane->Unavailable(Feature::kKernelStack).empty(),
              plane->layout.addresses_on_interfaces);
    EXPECT_EQ(plane->Unavailable(Feature::kMulticast).empty(),
              plane->layout.addresses_on_interfaces);
    EXPECT_EQ(plane->Unavailable(Feature::kContainer).empty(), plane == &kKernelPlane);
    if (plane->joined != nullptr) {
      EXPECT_TRUE(plane->joined->layout.joins_paths);
      EXPECT_NE(plane->choose, nullptr) << "what it is where nothing is joined";
    }
    if (plane->bridged != nullptr) {
      EXPECT_FALSE(plane->bridged->layout.addresses_on_interfaces);
    }
  }
}

TEST(DataPlaneTest, WhatIsChosenIsOpenNoMore) {
  for (const DataPlane* plane : DataPlanes()) {
    SCOPED_TRACE(plane->name);
    const NodePlace place{
        .namespace_fd = -1, .ports = {}, .interfaces = {}, .wires = {}, .program = {}};
    const Choice choice = ChoosePlane(*plane, place, "by hop");
    EXPECT_EQ(choice.plane->joined, nullptr);
    EXPECT_FALSE(choice.reason.empty());
    if (plane->choose == nullptr) {
      EXPECT_EQ(choice.plane, plane);
    }
  }
}

TEST(DataPlaneTest, SaysWhatItCannotHonour) {
  EXPECT_EQ(kKernelPlane.Unavailable(Feature::kKernelStack), "");
  EXPECT_NE(kKernelPlane.Unavailable(Feature::kSimulatedTcp), "");
  EXPECT_NE(kSimulatorPlane.Unavailable(Feature::kKernelStack), "");
}

}  // namespace
}  // namespace viaduct::fib
