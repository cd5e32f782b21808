// The Internet checksum (RFC 1071), its incremental update (RFC 1624), and pseudo-headers (RFC 768,
// 9293, 8200 section 8.1).
//
// In these functions a checksum is the value of the 16-bit field as Load16() reads it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/wire/address.h"
#include "base/wire/bytes.h"

namespace viaduct::wire {

// Returns the ones-complement sum of 16-bit words, not yet inverted; an odd last byte counts as the
// high half of a word. `start` is a sum to continue: if `a` has an even length, Sum(b, Sum(a)) is
// the sum of the bytes of `a`, then those of `b`.
uint32_t Sum(ConstBytes bytes, uint32_t start = 0);

// Folds a sum to 16 bits and inverts it, which gives the checksum.
uint16_t FinishChecksum(uint32_t sum);

inline uint16_t InternetChecksum(ConstBytes bytes) { return FinishChecksum(Sum(bytes)); }

// Returns the new checksum after a change of one word that the checksum covers (RFC 1624, equation
// 3).
uint16_t UpdateChecksum(uint16_t checksum, uint16_t old_word, uint16_t new_word);

// Returns the sum of the pseudo-header, which is a part of a transport checksum. `length`: the
// bytes of the transport header and its payload.
uint32_t PseudoHeaderSum(const IpAddress& source, const IpAddress& destination, uint8_t protocol,
                         uint32_t length);

// Returns the checksum of a UDP, TCP or ICMPv6 segment whose checksum field holds zero. For UDP
// 0xffff is returned in place of zero, because zero on the wire means "no checksum" (RFC 768).
uint16_t TransportChecksum(const IpAddress& source, const IpAddress& destination, uint8_t protocol,
                           ConstBytes segment);

// Whether the transport checksum in `segment` is correct.
bool TransportChecksumIsRight(const IpAddress& source, const IpAddress& destination,
                              uint8_t protocol, ConstBytes segment);

// Completes a checksum that the kernel left partial (CHECKSUM_PARTIAL): the field at start + offset
// holds the pseudo-header sum; the checksum covers the bytes from `start` to the end of the frame.
// Returns false and writes nothing if the field is not inside the frame.
bool CompletePartialChecksum(Bytes frame, size_t start, size_t offset);

}  // namespace viaduct::wire
