// The offsets of the layers of a frame.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/wire/address.h"
#include "base/wire/bytes.h"

namespace viaduct::wire {

// The layers of an IP packet in a frame. Offsets are from the start of the frame.
struct IpLayers {
  Family family = Family::kIpv4;
  size_t network = 0;  // offset of the IP header
  // The offset of the transport header, after IP options or extension headers.
  size_t transport = 0;
  size_t end = 0;                  // offset of the packet's end, without link-layer padding
  uint8_t protocol = 0;            // IP protocol number of the transport
  bool fragment = false;           // a fragment; only the first fragment has a transport header
  bool extension_headers = false;  // has extension headers (IPv6 only)

  IpAddress Source(ConstBytes frame) const;
  IpAddress Destination(ConstBytes frame) const;
};

// The EtherType of a frame after its VLAN tags, and the offset of the payload after that EtherType.
struct LinkLayer {
  uint16_t ether_type = 0;
  size_t size = 0;
};
std::optional<LinkLayer> FindLink(ConstBytes frame);

// Returns the layers of a frame; nothing if the frame is not IP, is shorter than its length fields
// claim, or is malformed.
std::optional<IpLayers> FindIpLayers(ConstBytes frame);
// Returns the layers of a packet that starts at the IP header, as on TUN devices.
std::optional<IpLayers> FindIpLayersInPacket(ConstBytes packet);
// Returns the layers of the quoted packet in an ICMP error. The quoted packet may be cut off
// anywhere after the IP header and extension headers. `end` is the offset at which the quoted
// packet is cut off.
std::optional<IpLayers> FindIpLayersInQuotation(ConstBytes start);

}  // namespace viaduct::wire
