// Packets that the kernel refused to send.
#pragma once

#include <cstdint>
#include <map>

namespace viaduct::load {

// The number of refused packets, by errno.
using Refusals = std::map<int, uint64_t>;

// Whether a sender that has sent no packet yet must fail at this refusal, which is the `count`th
// with this errno: the errno shows that the packets themselves are wrong, and a change of the
// network would not help.
bool IsHopeless(int error, uint64_t count);

}  // namespace viaduct::load
