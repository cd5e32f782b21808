// The joined paths of a lab. A path is computed when a packet requests it, and forgotten when
// anything changes on the path (plane/bpf/join.bpf.c, docs/decisions/joined-paths.md).
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

// The counters of the frames that an endpoint of a link sent: frames delivered and lost.
struct WireLoss {
  size_t link = 0, endpoint = 0;  // the link's index in the topology, and the endpoint's index
  viaduct_wire_loss counters;
};

// Joins paths during the lifetime of the object. For use by one thread.
class JoinedPaths {
 public:
  // `lab` must outlive this object. Throws EnvironmentError if the build or the kernel cannot join
  // paths.
  explicit JoinedPaths(Lab& lab);
  ~JoinedPaths();
  JoinedPaths(const JoinedPaths&) = delete;
  JoinedPaths& operator=(const JoinedPaths&) = delete;

  // Return the descriptors to poll, and handle a readable one. OnReadable() returns false for any
  // other descriptor.
  std::vector<int> Descriptors() const;
  bool OnReadable(int descriptor);

  // Must be called after a change of a node's tables that must take effect at once.
  void OnChanged(const std::string& node);
  // Must be called when an interface of a node went up or down: the other end of its wire gets or
  // loses its carrier.
  void OnLink(const std::string& node, const sys::LinkEvent& event);
  // Must be called when the node does more to packets than to forward them, or when a process reads
  // its packets: after the call the kernel forwards the node's packets hop by hop.
  void LeaveToKernel(const std::string& node);

  // The numbers of packets that a node received, by interface and counter: one counter for packets
  // on joined paths, and one for each reason why packets were not on a joined path.
  using NodeCounters = std::map<std::string, std::map<std::string, uint64_t>>;
  // Returns the counters of each node.
  std::map<std::string, NodeCounters> PacketCounters() const;
  // Returns the counters of the wires that lose frames, for both directions of each wire.
  std::vector<WireLoss> Losses() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace viaduct::lab
