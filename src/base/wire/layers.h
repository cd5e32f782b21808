// The offsets of the layers of a frame.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/wire/address.h"
#include "base/wire/bytes.h"

namespace viaduct::wire {

// Offsets are from the start of the frame.
struct IpLayers {
  Family family = Family::kIpv4;
  size_t network = 0;              // IP header
  size_t transport = 0;            // after the IP header and its options or extension headers
  size_t end = 0;                  // the packet's end, without link-layer padding
  uint8_t protocol = 0;            // the transport's IP protocol number
  bool fragment = false;           // only the first fragment has a transport header
  bool extension_headers = false;  // IPv6 only

  IpAddress Source(ConstBytes frame) const;
  IpAddress Destination(ConstBytes frame) const;
};

// The EtherType of a frame after its VLAN tags, and the offset of the payload of this type.
struct LinkLayer {
  uint16_t ether_type = 0;
  size_t size = 0;
};
std::optional<LinkLayer> FindLink(ConstBytes frame);

// Returns the layers of a frame; nothing if it is not IP, is shorter than its lengths claim, or is
// malformed.
std::optional<IpLayers> FindIpLayers(ConstBytes frame);
// Returns the layers of bytes that start at the IP header (TUN devices).
std::optional<IpLayers> FindIpLayersInPacket(ConstBytes packet);
// Returns the layers of the start of a packet, as ICMP errors quote it: it may be cut off anywhere
// after its IP header and extension headers. `end` is the offset at which it is cut off.
std::optional<IpLayers> FindIpLayersInQuotation(ConstBytes start);

}  // namespace viaduct::wire
