// Access to packet bytes, in network byte order and at any alignment, through memcpy only.
//
// The functions do not check bounds: their callers must do so, as every Parse() of this library
// does.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace viaduct::wire {

using Bytes = std::span<std::byte>;
using ConstBytes = std::span<const std::byte>;

inline uint8_t Load8(const std::byte* at) { return static_cast<uint8_t>(*at); }

inline uint16_t Load16(const std::byte* at) {
  return static_cast<uint16_t>(Load8(at) << 8 | Load8(at + 1));
}

inline uint32_t Load32(const std::byte* at) {
  return static_cast<uint32_t>(Load16(at)) << 16 | Load16(at + 2);
}

inline void Store8(std::byte* at, uint8_t value) { *at = std::byte{value}; }

inline void Store16(std::byte* at, uint16_t value) {
  Store8(at, static_cast<uint8_t>(value >> 8));
  Store8(at + 1, static_cast<uint8_t>(value));
}

inline void Store32(std::byte* at, uint32_t value) {
  Store16(at, static_cast<uint16_t>(value >> 16));
  Store16(at + 2, static_cast<uint16_t>(value));
}

}  // namespace viaduct::wire
