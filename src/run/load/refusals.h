// Packets that the kernel did not take.
#pragma once

#include <cstdint>
#include <map>

namespace viaduct::load {

// How many packets were refused, by errno.
using Refusals = std::map<int, uint64_t>;

// Whether a sender of which nothing was taken so far gives up with this refusal, the `count`th for
// this errno: the error is of the packets themselves, and no change of the network cures it.
bool IsHopeless(int error, uint64_t count);

}  // namespace viaduct::load
