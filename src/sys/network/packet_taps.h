// Detects programs that listen to a namespace's packets (packet(7)), as tcpdump does.
#pragma once

namespace viaduct::sys {

// Whether a packet socket in the namespace receives all packets, or all IPv4 or all IPv6 packets.
bool HasPacketTap(int namespace_fd);

}  // namespace viaduct::sys
