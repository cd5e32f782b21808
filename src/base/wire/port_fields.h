// The ports of UDP and TCP in a frame, also in the packet that an ICMP error quotes, and changes of
// ports that leave every checksum as correct as it was.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/wire/address.h"
#include "base/wire/bytes.h"

namespace viaduct::wire {

// Offsets are from the start of the frame.
struct PortFields {
  IpAddress source, destination;    // addresses of the packet that has the ports
  uint8_t protocol = 0;             // ip_protocol::kUdp or kTcp
  size_t ports = 0;                 // the source port; the destination port follows it
  std::optional<size_t> checksum;   // the transport's; absent if a quotation ends before it
  std::optional<size_t> icmp = {};  // the checksum of the ICMP message that quotes the packet

  uint16_t SourcePort(ConstBytes frame) const { return Load16(frame.data() + ports); }
  uint16_t DestinationPort(ConstBytes frame) const { return Load16(frame.data() + ports + 2); }
};

// Returns the ports of the frame's own UDP or TCP header; nothing for another protocol, a fragment
// that is not the first, or a malformed frame.
std::optional<PortFields> FindPorts(ConstBytes frame);
// Returns the ports of the packet that an ICMP or ICMPv6 error quotes (RFC 792, RFC 4443 section 3)
// and which may be cut off; nothing if the frame is no such message.
std::optional<PortFields> FindQuotedPorts(ConstBytes frame);

// Set a port and update the checksums that cover it (RFC 1624). A UDP packet without checksum stays
// without one.
void SetSourcePort(Bytes frame, const PortFields& fields, uint16_t port);
void SetDestinationPort(Bytes frame, const PortFields& fields, uint16_t port);

}  // namespace viaduct::wire
