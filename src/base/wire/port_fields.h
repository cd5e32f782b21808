// Finds and changes the UDP and TCP ports in a frame, or in the packet that an ICMP error quotes. A
// change of a port updates the checksums: a correct checksum remains correct, and a wrong one
// remains wrong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/wire/address.h"
#include "base/wire/bytes.h"

namespace viaduct::wire {

// The ports of a packet. Offsets are from the start of the frame.
struct PortFields {
  IpAddress source, destination;  // addresses of the packet that has the ports
  uint8_t protocol = 0;           // ip_protocol::kUdp or kTcp
  size_t ports = 0;               // offset of the source port; the destination port follows it
  // The offset of the transport checksum; absent if a quoted packet is cut off before it.
  std::optional<size_t> checksum;
  // The offset of the checksum of the ICMP error that quotes the packet.
  std::optional<size_t> icmp = {};

  uint16_t SourcePort(ConstBytes frame) const { return Load16(frame.data() + ports); }
  uint16_t DestinationPort(ConstBytes frame) const { return Load16(frame.data() + ports + 2); }
};

// Returns the ports of the UDP or TCP header of a frame; nothing for another protocol, a fragment
// other than the first, or a malformed frame.
std::optional<PortFields> FindPorts(ConstBytes frame);
// Returns the ports of the packet that an ICMP or ICMPv6 error quotes (RFC 792, RFC 4443 section
// 3), even if the quoted packet is cut off; nothing if the frame is no such error.
std::optional<PortFields> FindQuotedPorts(ConstBytes frame);

// Set a port, and update the checksums that cover the port (RFC 1624). A UDP packet without a
// checksum remains without a checksum.
void SetSourcePort(Bytes frame, const PortFields& fields, uint16_t port);
void SetDestinationPort(Bytes frame, const PortFields& fields, uint16_t port);

}  // namespace viaduct::wire
