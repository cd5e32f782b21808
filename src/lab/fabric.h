// The fabric, the namespace "LAB.fabric". It has the bridges of shared links, the peers of the ends
// of emulated links (the path engine's ports), and the peers of the ends of wires over which paths
// are joined (lab/joined_paths.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lab/topology.h"
#include "path/spec/spec.h"

namespace viaduct::lab {

// One end of a pair between which the path engine forwards frames: an interface in the fabric, or a
// remote node's tunnel.
struct FabricEnd {
  std::string interface;         // the interface's name; empty: the end is a tunnel
  std::optional<size_t> remote;  // an index in Topology::remotes
  friend bool operator==(const FabricEnd&, const FabricEnd&) = default;
};

// One pair of the engine: frames that enter the fabric on `a` leave it on `b`, and vice versa.
struct FabricPair {
  std::string name;  // the link's name; for a shared link path::SharedPairName()
  FabricEnd a, b;
  path::Spec up, down;  // the SPECs from a to b, and from b to a
  int mtu = 1500;
  std::vector<path::TrafficClass> classes = {};  // classes of packets that have separate SPECs
};

// Returns the name of the endpoint's peer in the fabric.
std::string FabricPort(size_t link, size_t endpoint);
// Return the names of the engine's second port for an emulated endpoint of a shared link, and of
// the peer of this port on the bridge.
std::string FabricInnerPort(size_t link, size_t endpoint);
std::string FabricBridgePort(size_t link, size_t endpoint);

// Whether the path engine is between this endpoint and the other endpoints of the link.
bool IsEmulated(const Topology& topology, const Link& link, size_t endpoint);

// Whether both ends of the link lead into the fabric without the engine, so that paths over the
// link can be joined. The SPECs of such a link do nothing, or only lose frames at random
// (LossOf()).
bool IsJoined(const Topology& topology, const Link& link);
// Returns the probability of random loss (independent for each frame) if the SPEC does nothing
// else: 0 for a plain wire. Returns nothing if the SPEC does more.
std::optional<double> LossOf(const path::Spec& spec);

// Whether frames between this endpoint and the fabric must be as they would be on a wire, so that
// super-frames are not allowed.
bool NeedsWireFrames(const Topology& topology, const Link& link, size_t endpoint);

// Returns the engine's pairs, ordered by link and endpoint. A pair link with a SPEC has one pair. A
// shared link has one pair for each endpoint with a SPEC, between the endpoint (a) and the bridge
// (b). A link to another host has one pair, between the endpoint and the tunnel
// (FabricInnerPort()), in which `a` is at the link's first end.
std::vector<FabricPair> FabricPairs(const Topology& topology);

// Whether the lab needs a fabric.
bool NeedsFabric(const Topology& topology);

}  // namespace viaduct::lab
