// The payload of UDP and TCP packets, and changes of it that the checksum does not show.
#pragma once

#include <cstddef>
#include <optional>

#include "base/wire/bytes.h"

namespace viaduct::wire {

// Offsets from the start of the frame.
struct TransportPayload {
  size_t transport = 0;          // UDP or TCP header
  size_t begin = 0, end = 0;     // payload: at least a byte
  size_t checksum = 0;           // the checksum's field
  bool zero_means_none = false;  // UDP: RFC 768
};

// Returns nothing if the frame has no such payload: neither UDP nor TCP, a fragment (whose checksum
// covers others, too), malformed, or empty. Tags, IPv4 options and IPv6 extension headers may
// precede it.
std::optional<TransportPayload> FindTransportPayload(ConstBytes frame);

// Flips bit `bit` (counted from the first of the payload) and updates the checksum (RFC 1624),
// which stays as right or wrong as before. A UDP packet without checksum stays without one.
void FlipPayloadBit(Bytes frame, const TransportPayload& payload, size_t bit);

}  // namespace viaduct::wire
