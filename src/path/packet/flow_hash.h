// The hash of a frame's flow.
#pragma once

#include <cstdint>

#include "base/wire/bytes.h"

namespace viaduct::path {

// Returns a number that is the same for all frames of a flow: a hash of the source and destination
// address, the protocol and, for unfragmented TCP, UDP, UDP-Lite, SCTP and DCCP, both ports, behind
// any VLAN tags (whose IDs are included). Fragments are hashed by addresses and protocol only, so
// that a datagram stays together; frames other than IP by MAC addresses and EtherType. `seed` salts
// the mapping (RFC 8290 section 4.1: a perturbation), so that no two flows share a queue in every
// run.
uint64_t HashFlow(wire::ConstBytes frame, uint64_t seed);

}  // namespace viaduct::path
