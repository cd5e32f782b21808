// The blocks of a pcapng file (draft-ietf-opsawg-pcapng), little-endian, for frames with comments.
// These functions only format; they write no files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/time.h"

namespace viaduct::path {

// Returns the Section Header Block with which a file begins.
std::string PcapngHeader(std::string_view application);
// Returns an Interface Description Block of an Ethernet interface with nanosecond time stamps.
// Interfaces are numbered from 0.
std::string PcapngInterface(std::string_view name);
// Returns an Enhanced Packet Block at `time` (since 1970, or since the start of a simulation; not
// negative). `length`: the packet's length on the wire; `frame` may be shorter.
std::string PcapngPacket(uint32_t interface, Instant time, std::span<const std::byte> frame,
                         uint32_t length, std::string_view comment);

}  // namespace viaduct::path
