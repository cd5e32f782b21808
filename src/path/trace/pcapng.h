// The blocks of a pcapng file (draft-ietf-opsawg-pcapng), little-endian, for frames with comments.
// Formatting only; who writes files is elsewhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/time.h"

namespace viaduct::path {

// What a file begins with: a Section Header Block.
std::string PcapngHeader(std::string_view application);
// An Ethernet interface whose time stamps are nanoseconds. Interfaces count from 0.
std::string PcapngInterface(std::string_view name);
// A packet at `time` (since 1970, or since the start of a simulation; not negative). `length`: of
// the packet on the wire, of which `frame` may be less.
std::string PcapngPacket(uint32_t interface, Instant time, std::span<const std::byte> frame,
                         uint32_t length, std::string_view comment);

}  // namespace viaduct::path
