// Where the layers of a frame begin.
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
  size_t network = 0;     // IP header
  size_t transport = 0;   // what follows the IP header and its options or extension headers
  size_t end = 0;         // of the packet: without link-layer padding
  uint8_t protocol = 0;   // of the transport
  bool fragment = false;  // only the first fragment has a transport header
  bool extension_headers = false;  // IPv6 only

  IpAddress Source(ConstBytes frame) const;
  IpAddress Destination(ConstBytes frame) const;
};

// The EtherType of a frame after its VLAN tags, and the offset of the payload it announces.
struct LinkLayer {
  uint16_t ether_type = 0;
  size_t size = 0;
};
std::optional<LinkLayer> FindLink(ConstBytes frame);

// Nothing when the frame is not IP, too short for what its lengths say, or malformed.
std::optional<IpLayers> FindIpLayers(ConstBytes frame);
// The same for bytes that start at the IP header (TUN devices).
std::optional<IpLayers> FindIpLayersInPacket(ConstBytes packet);
// The same for the start of a packet, as ICMP errors quote it: it may be cut off anywhere after its
// IP header and extension headers. `end` is where it is cut off.
std::optional<IpLayers> FindIpLayersInQuotation(ConstBytes start);

}  // namespace viaduct::wire
