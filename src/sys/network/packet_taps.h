// Detects programs that listen to a namespace's packets (packet(7)), as tcpdump does.
#pragma once

namespace viaduct::sys {

// Whether a packet socket in the namespace receives all frames, or all of IPv4 or IPv6.
bool HasPacketTap(int namespace_fd);

}  // namespace viaduct::sys
