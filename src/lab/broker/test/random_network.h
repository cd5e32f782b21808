// Random networks, and random packets for them, to compare data planes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"
#include "lab/topology.h"

namespace viaduct::broker::test {

using Frame = std::vector<std::byte>;

struct NodeRoute {
  std::string node;
  fib::Route route;
};

// The sources and destinations of random packets of one family; a text that is listed twice is
// drawn twice as often.
struct Endpoints {
  std::vector<std::string> sources, destinations;
};

// A connected network of routers, with random additional links and MTUs, and three hosts: s, which
// sends, d0 and d1.
struct RandomNetwork {
  lab::Topology topology;
  std::vector<NodeRoute> routes;  // the routes of the shortest paths
  Endpoints ipv4, ipv6;
};

inline constexpr const char* kSource = "s";
inline constexpr const char* kSink = "d0";
inline constexpr const char* kUnrouted = "10.7.0.1";

// Selects the paths that routes use if several paths have the same length: all of them, or the
// first.
enum class EqualPaths { kAll, kFirst };

// Returns a network whose routers forward by `plane` and whose hosts forward by the kernel. The
// same seed makes the same network.
RandomNetwork MakeRandomNetwork(uint64_t seed, const fib::DataPlane& plane,
                                EqualPaths paths = EqualPaths::kAll);

// Returns addresses in the networks of the interface that random packets use as source or
// destination and that no node has.
std::vector<wire::IpAddress> StrangersOn(const lab::Interface& interface);

// Returns a random frame from the host s to its router. Some frames are malformed, or must not be
// forwarded; `number` identifies the frame.
Frame RandomFrame(RandomStream& random, const RandomNetwork& network, int number);
// Returns a frame that passes every data plane from s to d0, where no process answers it.
Frame MarkerFrame(const RandomNetwork& network);
// Whether a description by wire::packet::Describe() describes a marker.
bool IsMarker(const std::string& description);

}  // namespace viaduct::broker::test
