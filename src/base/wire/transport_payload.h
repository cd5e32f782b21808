// The payload of UDP and TCP packets, and changes of it that their checksum does not show.
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

// Nothing when the frame has none: neither UDP nor TCP, a fragment (whose checksum covers others,
// too), malformed, or without payload. Tags, IPv4 options and IPv6 extension headers may precede.
std::optional<TransportPayload> FindTransportPayload(ConstBytes frame);

// Flips bit `bit` (counted from the payload's first) and updates the checksum (RFC 1624), which is
// as right or as wrong afterwards as before. A UDP packet without checksum gets none.
void FlipPayloadBit(Bytes frame, const TransportPayload& payload, size_t bit);

}  // namespace viaduct::wire
