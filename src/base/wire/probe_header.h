// The header that viaduct-load writes at the start of every UDP payload. It is big-endian; the rest
// of the payload is zeros.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/time.h"

namespace viaduct::load {

enum class PacketType : uint8_t {
  kData = 1,
  kEnd = 2,  // the sender is done; `sequence` is the number of data packets it offered
};

struct Header {
  PacketType type = PacketType::kData;
  uint32_t flow = 0;      // random, chosen by the sender, so that a receiver can distinguish runs
  uint64_t sequence = 0;  // the data packet's number, from 0
  Instant sent;           // CLOCK_MONOTONIC of the sender: comparable on the same machine only
};

// Offsets from the start of the payload.
inline constexpr size_t kTypeOffset = 5;
inline constexpr size_t kSequenceOffset = 12;
inline constexpr size_t kHeaderBytes = 28;
// 65535 less the IPv4 and UDP headers.
inline constexpr int kMaxPayload = 65507;

// Writes kHeaderBytes bytes.
void WriteHeader(const Header& header, std::span<std::byte> payload);
// Returns nothing if the payload is not viaduct-load's.
std::optional<Header> ReadHeader(std::span<const std::byte> payload);

}  // namespace viaduct::load
