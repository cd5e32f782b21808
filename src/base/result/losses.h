// Where packets were lost other than by the network that was asked for.
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
  bool own = false;  // this product lost them: it was too slow, or had no room
};

// Those at the simulator's interfaces and programs' devices, in the nodes' stacks and data planes,
// and at the flows' own ends.
std::vector<Loss> SimulatorLosses(const RunResult& run);
// Those of the path engine.
std::vector<Loss> EngineLosses(const EngineResult& engine);
// All of a run. What several flows have in common (the sender of a group) is listed once.
std::vector<Loss> LossesOf(const RunResult& run);

// How many packets of the flows, at least, were lost at none of these places nor in the links of
// the path engine: a kernel does not count those whose next hop does not answer. Places count other
// packets, too.
uint64_t LostElsewhere(const RunResult& run);

// The packets of those that the product itself lost.
uint64_t OwnLosses(const std::vector<Loss>& losses);

}  // namespace viaduct::result
