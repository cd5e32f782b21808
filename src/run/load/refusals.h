// Packets that the kernel refused to send.
#pragma once

#include <cstdint>
#include <map>

namespace viaduct::load {

// The number of refused packets, by errno.
using Refusals = std::map<int, uint64_t>;

// Whether a sender must fail because the kernel has refused a packet and no packet has been sent
// before: the errno `error` shows that the packets themselves are wrong, so that a change of the
// network would not help. `count`: the number of refusals with this errno, including this one.
bool IsHopeless(int error, uint64_t count);

}  // namespace viaduct::load
