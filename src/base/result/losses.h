// Losses of packets at other places than the network that was asked for.
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
  bool own = false;  // lost by this product: it was too slow, or had no space
};

// Returns the losses at the simulator's interfaces and programs' devices, in the nodes' stacks and
// data planes, and at the ends of the flows.
std::vector<Loss> SimulatorLosses(const RunResult& run);
// Returns the losses in the path engine.
std::vector<Loss> EngineLosses(const EngineResult& engine);
// Returns all losses of a run. A loss that several flows have in common (at the sender of a group)
// is listed once.
std::vector<Loss> LossesOf(const RunResult& run);

// Returns the minimum number of packets of the flows that were lost at none of these places nor in
// the links of the path engine: a kernel does not count packets whose next hop does not answer.
// Places count other packets, too.
uint64_t LostElsewhere(const RunResult& run);

// Returns the number of packets that the product itself lost.
uint64_t OwnLosses(const std::vector<Loss>& losses);

}  // namespace viaduct::result
