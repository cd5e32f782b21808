// What a data plane does with random packets on a random network, compared with another.
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
  std::map<std::string, Frames> at;  // by "node/interface"
  // IPv4 and IPv6 packets that each node passed on, whatever in it did so.
  std::map<std::string, uint64_t> forwarded;
  uint64_t by_plane = 0;  // of these, those that the data plane itself counted
  uint64_t markers = 0;   // sent between the packets; the nodes forwarded them, too
  // Answers that kernels limit by the clock ("no route", per place), which are not among those of
  // `at`: where the machine was slow there are more, and nodes forwarded them, too.
  std::map<std::string, uint64_t> clocked = {};
  // Whether the numbers of forwarded packets must agree. Not those of a plane that answers itself
  // where there is no route: such answers are limited by the clock, and they are forwarded, too.
  bool counts_compare = true;
};

// Where arrivals are noted. Who reads a router's packets may change the way they take through it.
enum class Where { kHosts, kEverywhere };

// What a plane must be compared on: `userspace` chooses among equal paths by a hash of its own.
EqualPaths PathsFor(const fib::DataPlane& plane);

// Builds the network of this seed with routers of this plane, sends so many packets from its host
// s, and removes it. Needs root, and that the calling thread stays on one processor: then what was
// sent first arrives first. Throws Error if nothing passes.
Arrivals SendThrough(const fib::DataPlane& plane, uint64_t seed, int packets, EqualPaths paths,
                     Where where = Where::kHosts);

// The frames that arrived with one of two planes only, "+d0/eth0 eth ... / ipv4 ..." (of the first)
// or "-...".
std::vector<std::string> Differences(const Arrivals& plane, const Arrivals& reference);
// Whether the nodes together forwarded another number of packets, by node; empty: they did not, or
// cannot be compared, as there were other numbers of markers or of answers by the clock.
std::string ForwardedOtherwise(const Arrivals& plane, const Arrivals& reference);

// All planes of the table but the kernel's, which they are compared with, the simulator's, and
// "auto", which is one of the others.
std::vector<const fib::DataPlane*> ComparedPlanes();

void PinToOneProcessor();

}  // namespace viaduct::broker::test
