// Compares the handling of random packets on a random network by two data planes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "lab/broker/test/random_network.h"
#include "plane/fib/data_plane.h"

namespace viaduct::broker::test {

// Frames that arrived, each as one line with its headers and a hash of the rest; sorted.
using Frames = std::vector<std::string>;

struct Arrivals {
  std::map<std::string, Frames> at;  // the key is "node/interface"
  // The number of IPv4 and IPv6 packets that each node passed on, by its kernel or its data plane.
  std::map<std::string, uint64_t> forwarded;
  uint64_t by_plane = 0;  // the part of them that the data plane itself counted
  uint64_t markers = 0;   // sent between the packets; the nodes forwarded them, too
  // Answers that kernels limit by the clock ("no route", per place), which are not among the frames
  // of `at`: on a slow machine there are more, and nodes forwarded them, too.
  std::map<std::string, uint64_t> clocked = {};
  // Whether the numbers of forwarded packets must agree. False for a plane that answers itself
  // where there is no route: such answers are limited by the clock, and they are forwarded, too.
  bool counts_compare = true;
};

// The nodes where arrivals are noted. Reading a router's packets may change their way through it.
enum class Where { kHosts, kEverywhere };

// The equal paths to compare a plane on: `userspace` chooses among them by a separate hash.
EqualPaths PathsFor(const fib::DataPlane& plane);

// Builds the network of this seed with routers of this plane, sends the packets from its host s,
// and removes it. Needs root, and that the calling thread stays on one processor: then packets
// arrive in the order in which they were sent. Throws Error if nothing passes.
Arrivals SendThrough(const fib::DataPlane& plane, uint64_t seed, int packets, EqualPaths paths,
                     Where where = Where::kHosts);

// The frames that arrived with one of two planes only, "+d0/eth0 eth ... / ipv4 ..." (of the first)
// or "-...".
std::vector<std::string> Differences(const Arrivals& plane, const Arrivals& reference);
// Returns the numbers of forwarded packets, by node, if those of all nodes together differ; empty:
// they agree, or cannot be compared, as the numbers of markers or of answers by the clock differ.
std::string ForwardedOtherwise(const Arrivals& plane, const Arrivals& reference);

// All planes of the table but the kernel's (the reference), the simulator's, and "auto", which
// stands for another plane.
std::vector<const fib::DataPlane*> ComparedPlanes();

void PinToOneProcessor();

}  // namespace viaduct::broker::test
