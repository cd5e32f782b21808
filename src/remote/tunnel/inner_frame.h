// The content of a VXLAN datagram whose sender is on this machine: a frame whose checksum and
// segmentation the sender's kernel has left to the network device. (Between machines a NIC or its
// driver computes the checksum and segments the frame.)
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/wire/bytes.h"
#include "port/port.h"

namespace viaduct::tunnel {

// Describes a frame whose sender is on this machine, for io::SuperFrameSplitter. `segment`: the
// size that the kernel reported with the message (UDP_GRO), 0 if none. A partial checksum
// (CHECKSUM_PARTIAL) contains only the sum of the pseudo-header and is recognized by this value.
// One of 65536 correct checksums has the same value; a sum over the packet shows that such a
// checksum is correct.
io::ReceivedFrame DescribeInnerFrame(wire::Bytes frame, size_t segment, Instant received);

// Whether `segment` is the length of the IP payloads that one inner super-frame must be cut into,
// and not the length of the datagrams that the kernel has combined in one message. `frame`: the
// message without its first VXLAN header.
bool IsSuperFrame(wire::ConstBytes frame, size_t segment);

// Returns the payload bytes of each segment that a TCP super-frame must be cut into so that frames
// have at most `max_frame` bytes. The kernel does not report the sender's segment size for TCP (it
// does for UDP); the sender's size is smaller than the result only on a path with a smaller MTU.
// Returns 0 if the frame is not a TCP super-frame.
size_t SegmentOfTcp(wire::ConstBytes frame, size_t max_frame);

}  // namespace viaduct::tunnel
