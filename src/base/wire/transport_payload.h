// Finds the payload of UDP and TCP packets, and changes the payload together with the checksum, so
// that the checksum does not reveal the change.
#pragma once

#include <cstddef>
#include <optional>

#include "base/wire/bytes.h"

namespace viaduct::wire {

// The payload of a packet. Offsets are from the start of the frame.
struct TransportPayload {
  size_t transport = 0;       // offset of the UDP or TCP header
  size_t begin = 0, end = 0;  // offsets of the payload's begin and end; it has at least one byte
  size_t checksum = 0;        // offset of the checksum field
  // True for UDP, where a checksum of zero means that there is no checksum (RFC 768).
  bool zero_means_none = false;
};

// Returns the payload of a frame; nothing if the frame has no UDP or TCP payload, is a fragment
// (whose checksum covers other fragments, too), is malformed, or has an empty payload. VLAN tags,
// IPv4 options and IPv6 extension headers may precede the transport header.
std::optional<TransportPayload> FindTransportPayload(ConstBytes frame);

// Flips bit `bit` of the payload, counted from its first bit, and updates the checksum (RFC 1624):
// a correct checksum remains correct, and a wrong checksum remains wrong. A UDP packet without a
// checksum remains without a checksum.
void FlipPayloadBit(Bytes frame, const TransportPayload& payload, size_t bit);

}  // namespace viaduct::wire
