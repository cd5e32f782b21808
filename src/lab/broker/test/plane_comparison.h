// Compares the handling of random packets on a random network by two data planes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "lab/broker/test/random_network.h"
#include "plane/fib/data_plane.h"

namespace viaduct::broker::test {

// Frames that arrived, sorted. Each element describes a frame: a line with the frame's headers and
// a hash of the bytes after the IP header.
using Frames = std::vector<std::string>;

struct Arrivals {
  std::map<std::string, Frames> at;  // the key is "node/interface"
  // The number of IPv4 and IPv6 packets that each node forwarded, by its kernel or its data plane.
  std::map<std::string, uint64_t> forwarded;
  uint64_t by_plane = 0;  // the part of `forwarded` that data planes counted, not kernels
  uint64_t markers = 0;   // markers sent between the packets; they are in `forwarded`, too
  // The number of answers whose rate kernels limit ("no route"), by place. The answers are not
  // among the frames of `at`, but nodes have forwarded them. Their number is larger on a slow
  // machine.
  std::map<std::string, uint64_t> clocked = {};
  // Whether the numbers of forwarded packets must agree. False for a data plane that itself answers
  // packets without a route: the rate of these answers is limited, and they are forwarded, too.
  bool counts_compare = true;
};

// The nodes where arriving frames are recorded: hosts only, or all nodes. A process that reads a
// router's packets may change the packets' path through the router.
enum class Where { kHosts, kEverywhere };

// Returns the paths for the comparison of a data plane: all paths of equal length, or only the
// first for `userspace`, which chooses among several paths by a separate hash.
EqualPaths PathsFor(const fib::DataPlane& plane);

// Builds the random network that `seed` determines, whose routers have the data plane `plane`,
// sends `packets` random packets from the host s, and removes the network. Needs root. The calling
// thread must stay on one processor, so that packets arrive in the order in which they were sent.
// Throws Error if no packet passes.
Arrivals SendThrough(const fib::DataPlane& plane, uint64_t seed, int packets, EqualPaths paths,
                     Where where = Where::kHosts);

// Returns the frames that arrived with only one of the two data planes, as lines that begin with
// "+" (arrived with `plane`) or "-" (arrived with `reference`): "+d0/eth0 eth ... / ipv4 ...".
std::vector<std::string> Differences(const Arrivals& plane, const Arrivals& reference);
// Returns the numbers of forwarded packets by node if their sums over all nodes differ. Returns ""
// if the sums agree, or cannot be compared because the numbers of markers or of rate-limited
// answers differ.
std::string ForwardedOtherwise(const Arrivals& plane, const Arrivals& reference);

// Returns all data planes except the kernel's (the reference), the simulator's, and "auto", which
// stands for another data plane.
std::vector<const fib::DataPlane*> ComparedPlanes();

void PinToOneProcessor();

}  // namespace viaduct::broker::test
