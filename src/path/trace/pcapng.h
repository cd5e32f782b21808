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

// The Section Header Block that a file begins with.
std::string PcapngHeader(std::string_view application);
// An Interface Description Block of an Ethernet interface with nanosecond time stamps. Interfaces
// are numbered from 0.
std::string PcapngInterface(std::string_view name);
// An Enhanced Packet Block at `time` (since 1970, or since the start of a simulation; not
// negative). `length`: that of the packet on the wire; `frame` may be shorter.
std::string PcapngPacket(uint32_t interface, Instant time, std::span<const std::byte> frame,
                         uint32_t length, std::string_view comment);

}  // namespace viaduct::path
