// The content of a VXLAN datagram whose sender is on this machine: a frame as the sender's kernel
// made it for a device that would complete it. (Between machines a NIC or its driver does.)
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/wire/bytes.h"
#include "port/port.h"

namespace viaduct::tunnel {

// Describes such a frame for io::SuperFrameSplitter. `segment`: the size that the kernel reported
// with the message (UDP_GRO), 0 if none. A checksum that holds the pseudo-header's sum only
// (CHECKSUM_PARTIAL) is recognized by that: of 65536 right checksums one is equal to it, and is
// found to be right by summing.
io::ReceivedFrame DescribeInnerFrame(wire::Bytes frame, size_t segment, Instant received);

// Whether `segment` is the length of the IP payloads that one inner super-frame must be cut into,
// and not that of the datagrams that the kernel has combined in one message. `frame`: the message
// without its first VXLAN header.
bool IsSuperFrame(wire::ConstBytes frame, size_t segment);

// Returns the payload of each segment that a TCP super-frame must be cut into so that frames have
// at most `max_frame` bytes: the kernel does not report its sender's value (it does for UDP), which
// is less than this only on a path with a smaller MTU. 0 if it is no such frame.
size_t SegmentOfTcp(wire::ConstBytes frame, size_t max_frame);

}  // namespace viaduct::tunnel
