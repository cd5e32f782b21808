// The joined paths of a lab: found when packets ask for them, forgotten when anything changes on
// their way (plane/bpf/join.bpf.c, docs/decisions/joined-paths.md).
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "lab/builder.h"
#include "lab/path_walk.h"
#include "plane/bpf/joiner.h"

namespace viaduct::lab {

// What became of the frames from an endpoint of a link.
struct WireLoss {
  size_t link = 0, endpoint = 0;  // their numbers in the topology
  viaduct_wire_loss counters;
};

// At work from construction to destruction. For use by one thread.
class JoinedPaths {
 public:
  // `lab` must outlive it. Throws EnvironmentError if the build or the kernel cannot do it.
  explicit JoinedPaths(Lab& lab);
  ~JoinedPaths();
  JoinedPaths(const JoinedPaths&) = delete;
  JoinedPaths& operator=(const JoinedPaths&) = delete;

  // To wait for; and what to do when one is readable. False: it is none of these.
  std::vector<int> Descriptors() const;
  bool OnReadable(int descriptor);

  // After a change of a node's tables that must have its effect at once.
  void OnChanged(const std::string& node);
  // An interface of a node went up or down: the other end of its wire loses its carrier.
  void OnLink(const std::string& node, const sys::LinkEvent& event);
  // The node does more to packets than to forward them, or somebody reads them there.
  void LeaveToKernel(const std::string& node);

  // What came in, by interface and by name: how much of it by joined paths, and of what came by
  // wire why it did.
  using NodeCounters = std::map<std::string, std::map<std::string, uint64_t>>;
  // By node.
  std::map<std::string, NodeCounters> PacketCounters() const;
  // What the wires that lose frames did, in both directions of each.
  std::vector<WireLoss> Losses() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace viaduct::lab
