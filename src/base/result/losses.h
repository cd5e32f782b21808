// Losses of packets outside of the network that the user asked for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result/run.h"

namespace viaduct::result {

struct Loss {
  std::string place;  // "n0/eth1", "links, n0-n1", "flow 'video'"
  uint64_t packets = 0;
  std::string why;
  // Whether this product lost the packets, because it was too slow or had no space.
  bool own = false;
};

// Returns the losses of a run at the simulator's interfaces and the programs' devices, in the
// stacks and data planes of nodes, and at the ends of flows.
std::vector<Loss> SimulatorLosses(const RunResult& run);
// Returns the losses in the path engine.
std::vector<Loss> EngineLosses(const EngineResult& engine);
// Returns all losses of a run. A loss that several flows have in common (at the sender of a
// multicast group) is listed once.
std::vector<Loss> LossesOf(const RunResult& run);

// Returns the minimum number of the flows' packets that were lost neither at a place of LossesOf()
// nor in the links of the path engine: a kernel does not count packets whose next hop does not
// answer. The number is a minimum because the losses at those places include packets that belong to
// no flow.
uint64_t LostElsewhere(const RunResult& run);

// Returns the number of packets that the product itself lost: the sum of the losses whose `own` is
// set.
uint64_t OwnLosses(const std::vector<Loss>& losses);

}  // namespace viaduct::result
