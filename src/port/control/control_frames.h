// Builds the frames of a control port from the payload and the metadata that a socket reports. Does
// no I/O.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/wire/address.h"
#include "base/wire/bytes.h"

namespace viaduct::io {

// The metadata of a packet, which a socket reports in addition to the payload.
struct Delivery {
  wire::IpAddress source;
  wire::IpAddress destination;  // the destination address in the IP header
  uint8_t ttl = 64;             // IPv4 TTL or IPv6 hop limit
  uint8_t traffic_class = 0;    // IPv4 TOS or IPv6 traffic class
  bool broadcast = false;
};

// The bytes that must be free before a payload, for its Ethernet, IPv6 and UDP headers.
inline constexpr size_t kHeaderRoom = 64;

// The memory in which a frame is built: the payload is at memory[offset, offset + size), and the
// headers are written before the payload. `offset` must be at least kHeaderRoom.
struct FrameMemory {
  wire::Bytes memory;
  size_t offset = 0;
  size_t size = 0;
};

// Returns a MAC address in place of the sender's MAC address, which the kernel does not report. The
// returned address is locally administered and derived from the last bytes of `address`: it is
// always the same for the same IP address.
wire::MacAddress PlaceholderMac(const wire::IpAddress& address);
wire::MacAddress DestinationMac(const Delivery& delivery, const wire::MacAddress& own);

// Builds a frame from the payload of a UDP datagram. `own`: the MAC address of the interface. `id`:
// the IPv4 identification to use.
wire::Bytes BuildUdpFrame(const FrameMemory& payload, const Delivery& delivery,
                          const wire::MacAddress& own, uint16_t source_port,
                          uint16_t destination_port, uint16_t id);
// Builds a frame from an IPv4 packet with its header, as raw IPv4 sockets deliver it.
wire::Bytes BuildIpv4Frame(const FrameMemory& payload, const Delivery& delivery,
                           const wire::MacAddress& own);
// Builds a frame from the bytes after an IPv6 header, as raw IPv6 sockets deliver them.
wire::Bytes BuildIpv6Frame(const FrameMemory& payload, const Delivery& delivery,
                           const wire::MacAddress& own, uint8_t protocol);

}  // namespace viaduct::io
