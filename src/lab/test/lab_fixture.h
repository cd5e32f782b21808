// Labs for tests in the real kernel. All objects are named after the test's process, recorded in a
// separate directory, and removed.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "lab/builder.h"
#include "sys/card/wireless_cards.h"

namespace viaduct::lab {

inline Interface MakeInterface(const std::string& name, int a, int b,
                               const std::vector<std::string>& addresses) {
  Interface interface;
  interface.name = name;
  interface.mac.bytes = {2, 0, 0, 0, static_cast<uint8_t>(a), static_cast<uint8_t>(b)};
  for (const std::string& text : addresses) {
    interface.addresses.push_back(wire::IpPrefix::Parse(text));
  }
  return interface;
}

class LabRootTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root to make network namespaces";
    name_ = "vdt" + std::to_string(getpid());
    root_ = std::filesystem::temp_directory_path() / name_;
  }
  void TearDown() override {
    if (geteuid() != 0) return;
    for (const RunInfo& run : ListRuns(root_)) RemoveRun(run, *cards_);
    std::filesystem::remove_all(root_);
    for (const auto& entry : std::filesystem::directory_iterator("/run/netns")) {
      EXPECT_NE(entry.path().filename().string().rfind(name_ + ".", 0), 0U) << entry.path();
    }
  }

  LabOptions Options() const { return {root_, 1000, cards_}; }

  // Returns the line n0 - n1 - ...: ni has eth0 (left) and eth1 (right); link i has 10.0.i.1 and
  // 10.0.i.2.
  Topology Line(int nodes) const {
    Topology topology;
    topology.name = name_;
    for (int i = 0; i < nodes; ++i) {
      Node node;
      node.name = "n" + std::to_string(i);
      if (i > 0) {
        node.interfaces.push_back(
            MakeInterface("eth0", i, 1, {"10.0." + std::to_string(i - 1) + ".2/24"}));
      }
      if (i + 1 < nodes) {
        node.interfaces.push_back(
            MakeInterface("eth1", i, 2, {"10.0." + std::to_string(i) + ".1/24"}));
      }
      topology.nodes.push_back(node);
      if (i > 0) {
        topology.links.push_back({"l" + std::to_string(i - 1),
                                  Link::Kind::kPair,
                                  {{"n" + std::to_string(i - 1), "eth1"}, {node.name, "eth0"}},
                                  {}});
      }
    }
    return topology;
  }

  std::string Namespace(const std::string& node) const { return NamespaceName(name_, node); }

  template <class E>
  std::string ErrorOfBuilding(const Topology& topology) const {
    try {
      Lab lab(topology, Options());
    } catch (const E& error) {
      return error.what();
    }
    return "";
  }

  std::string name_;
  std::string root_;
  sys::WirelessCards* cards_ = &sys::KernelCards();
};

}  // namespace viaduct::lab
