// The fabric, the namespace "LAB.fabric": the bridges of shared links, the host ends of the links
// that the path engine emulates, and those of the wires over which paths are joined
// (lab/joined_paths.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lab/topology.h"
#include "path/spec/spec.h"

namespace viaduct::lab {

// One end of a pair of the engine: an interface in the fabric, or a remote node's tunnel.
struct FabricEnd {
  std::string interface;         // empty: it is a tunnel
  std::optional<size_t> remote;  // in Topology::remotes
  friend bool operator==(const FabricEnd&, const FabricEnd&) = default;
};

// One pair of the engine: frames that enter the fabric on `a` leave it on `b` and back.
struct FabricPair {
  std::string name;  // that of the link; for a shared link path::SharedPairName()
  FabricEnd a, b;
  path::Spec up, down;  // a to b, b to a
  int mtu = 1500;
  std::vector<path::TrafficClass> classes = {};  // with separate SPECs
};

// The name of the fabric's end of an endpoint.
std::string FabricPort(size_t link, size_t endpoint);
// The names of the engine's second port for an emulated endpoint of a shared link, and of its peer
// on the bridge.
std::string FabricInnerPort(size_t link, size_t endpoint);
std::string FabricBridgePort(size_t link, size_t endpoint);

// Whether the engine stands between this endpoint and the rest of the link.
bool IsEmulated(const Topology& topology, const Link& link, size_t endpoint);

// Whether a wire's two ends are in the fabric, so that paths over it can be joined. Its SPECs do
// nothing, or lose frames at random (LossOf()).
bool IsJoined(const Topology& topology, const Link& link);
// The random loss, each frame by itself, that is all that a SPEC does: 0 of a plain wire. Nothing
// if it does more.
std::optional<double> LossOf(const path::Spec& spec);

// Whether frames between this endpoint and the fabric must be as they would be on a wire: no
// super-frames.
bool NeedsWireFrames(const Topology& topology, const Link& link, size_t endpoint);

// The pairs in the order of links and endpoints. A pair link with a SPEC yields one; a shared link
// yields one for each endpoint that has a SPEC, between the endpoint (a) and the bridge (b). A link
// to another host yields one between the endpoint and the tunnel (FabricInnerPort()): a is at the
// link's first end.
std::vector<FabricPair> FabricPairs(const Topology& topology);

// Whether the lab has a fabric at all.
bool NeedsFabric(const Topology& topology);

}  // namespace viaduct::lab
