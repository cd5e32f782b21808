// Packets that the kernel did not take.
#pragma once

#include <cstdint>
#include <map>

namespace viaduct::load {

// The number of refused packets, by errno.
using Refusals = std::map<int, uint64_t>;

// Whether a sender without any accepted packet gives up at this refusal, the `count`th with this
// errno: then the packets themselves are wrong, and no change of the network would help.
bool IsHopeless(int error, uint64_t count);

}  // namespace viaduct::load
