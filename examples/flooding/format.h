// Controlled flooding on layer 2: what its forwarding program (program.cc) and its protocol in ns-3
// (protocol.cc) agree on.
//
// Nodes carry the Ethernet frames of hosts. A frame that comes in from a host is numbered and sent,
// with a header of its own, to all neighbours; each node passes a frame on that it sees for the
// first time, and without the header to its own hosts. So a frame finds every way there is, and is
// delivered once.
#pragma once

#include <cstddef>
#include <cstdint>

namespace flooding {

// IEEE 802's EtherTypes for local experiments (IEEE Std 802-2014, table 9-1).
inline constexpr uint16_t kDataType = 0x88b5, kHelloType = 0x88b6;

// Behind an Ethernet header of kDataType; the host's whole frame follows.
//   0  origin: address of the first port of the node that a host's frame came in by
//   6  number of the frame, of this origin: 64 bits, increasing
//   14 how many more nodes may pass it on
struct Header {
  static constexpr size_t kNumber = 6, kHops = 14, kSize = 16;
};

// The program's table: for each port whose it is. One that has never had a neighbour is the hosts';
// a neighbour that is gone may come back, and would take what is for hosts as a host's, and number
// it anew. Then the hops of a new frame; 0: no frames are carried yet.
enum PortWord : uint64_t { kHosts = 0, kNeighbour = 1, kGone = 2 };
inline constexpr size_t kMostPorts = 64;
inline constexpr size_t kHopsWord = kMostPorts, kTableWords = kMostPorts + 1;

}  // namespace flooding
