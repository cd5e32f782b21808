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

// The fates of the frames that an endpoint of a link sent.
struct WireLoss {
  size_t link = 0, endpoint = 0;  // numbers in the topology
  viaduct_wire_loss counters;
};

// Joins paths from construction to destruction. For use by one thread.
class JoinedPaths {
 public:
  // `lab` must outlive it. Throws EnvironmentError if the build or the kernel cannot do it.
  explicit JoinedPaths(Lab& lab);
  ~JoinedPaths();
  JoinedPaths(const JoinedPaths&) = delete;
  JoinedPaths& operator=(const JoinedPaths&) = delete;

  // The descriptors to poll, and the handler of a readable one; it returns false for any other.
  std::vector<int> Descriptors() const;
  bool OnReadable(int descriptor);

  // Must be called after a change of a node's tables that must take effect at once.
  void OnChanged(const std::string& node);
  // Must be called when an interface of a node went up or down: the other end of its wire gets or
  // loses its carrier.
  void OnLink(const std::string& node, const sys::LinkEvent& event);
  // Must be called when the node does more to packets than to forward them, or when a process reads
  // them there: the kernel forwards its packets hop by hop.
  void LeaveToKernel(const std::string& node);

  // The packets that a node received, by interface and by counter: those on joined paths, and those
  // on the wire by the reason that they were not on a joined path.
  using NodeCounters = std::map<std::string, std::map<std::string, uint64_t>>;
  // Returns the counters of each node.
  std::map<std::string, NodeCounters> PacketCounters() const;
  // The counters of the wires that lose frames, both directions of each.
  std::vector<WireLoss> Losses() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace viaduct::lab
