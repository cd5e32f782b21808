// The header that viaduct-load writes at the start of every UDP payload. The header is big-endian;
// the payload after it is zeros.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/time.h"

namespace viaduct::load {

enum class PacketType : uint8_t {
  kData = 1,
  kEnd = 2,  // the sender has finished; `sequence` is the number of data packets that it offered
};

struct Header {
  PacketType type = PacketType::kData;
  uint32_t flow = 0;      // random number of the sender, by which a receiver distinguishes runs
  uint64_t sequence = 0;  // number of the data packet, from 0
  Instant sent;           // CLOCK_MONOTONIC of the sender: comparable on the same machine only
};

// The offsets of header fields from the start of the payload.
inline constexpr size_t kTypeOffset = 5;
inline constexpr size_t kSequenceOffset = 12;
inline constexpr size_t kHeaderBytes = 28;
// The maximum UDP payload over IPv4: 65535 bytes less the IPv4 and UDP headers.
inline constexpr int kMaxPayload = 65507;

// Writes a header, kHeaderBytes bytes, at the start of a payload.
void WriteHeader(const Header& header, std::span<std::byte> payload);
// Returns the header at the start of a payload; nothing if viaduct-load did not write the payload.
std::optional<Header> ReadHeader(std::span<const std::byte> payload);

}  // namespace viaduct::load
