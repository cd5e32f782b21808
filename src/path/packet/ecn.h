// Explicit Congestion Notification in a frame (RFC 3168).
#pragma once

#include "path/packet/packet.h"

namespace viaduct::path {

// Returns the ECN field of the IPv4 or IPv6 packet of an Ethernet frame, behind any VLAN tags: 0
// not ECT, 1 ECT(1), 2 ECT(0), 3 CE (RFC 3168 section 5). Returns 0 if the frame is not IP.
unsigned EcnOf(std::span<const std::byte> frame);

// Sets CE (Congestion Experienced) in the IPv4 or IPv6 packet of an Ethernet frame, behind any VLAN
// tags; an IPv4 header's checksum is updated incrementally (RFC 1624), so an incorrect one stays
// incorrect. Returns false and writes nothing when the packet is not ECN-capable (not ECT) or not
// IP: the caller then has to drop it (RFC 3168 section 5).
bool MarkCongestionExperienced(std::span<std::byte> frame);

// Marks a packet of a store like MarkCongestionExperienced(); sets packet.marked.
bool Mark(Packet& packet, FrameStore& store);

}  // namespace viaduct::path
