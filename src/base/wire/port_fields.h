// The ports of UDP and TCP in a frame, also in the packet that an ICMP error quotes, and changes of
// them that leave every checksum as right as it was.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/wire/address.h"
#include "base/wire/bytes.h"

namespace viaduct::wire {

// Offsets are from the start of the frame.
struct PortFields {
  IpAddress source, destination;    // of the packet that has the ports
  uint8_t protocol = 0;             // ip_protocol::kUdp or kTcp
  size_t ports = 0;                 // the source port; the destination port follows it
  std::optional<size_t> checksum;   // of the transport; none where a quotation ends before it
  std::optional<size_t> icmp = {};  // the checksum of the ICMP message that quotes the packet

  uint16_t SourcePort(ConstBytes frame) const { return Load16(frame.data() + ports); }
  uint16_t DestinationPort(ConstBytes frame) const { return Load16(frame.data() + ports + 2); }
};

// The ports of the frame's own UDP or TCP header. Nothing when there is none: another protocol, a
// fragment that is not the first, malformed.
std::optional<PortFields> FindPorts(ConstBytes frame);
// The ports of the packet that an ICMP or ICMPv6 error quotes (RFC 792, RFC 4443 section 3), which
// may be cut off. Nothing when the frame is no such message.
std::optional<PortFields> FindQuotedPorts(ConstBytes frame);

// Sets a port and updates the checksums that cover it (RFC 1624). A UDP packet without checksum
// gets none.
void SetSourcePort(Bytes frame, const PortFields& fields, uint16_t port);
void SetDestinationPort(Bytes frame, const PortFields& fields, uint16_t port);

}  // namespace viaduct::wire
