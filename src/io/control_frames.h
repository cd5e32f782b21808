// How a control port turns what a socket tells into a frame. No I/O here.
#pragma once

#include <cstddef>
#include <cstdint>

#include "wire/address.h"
#include "wire/bytes.h"

namespace viaduct::io {

// What a socket tells of a packet besides its payload.
struct Delivery {
  wire::IpAddress source;
  wire::IpAddress destination;  // as in the IP header
  uint8_t ttl = 64;             // or hop limit
  uint8_t traffic_class = 0;    // or TOS
  bool broadcast = false;
};

// Room for the headers that are put before a payload: Ethernet, IPv6, UDP.
inline constexpr size_t kHeaderRoom = 64;

// The frame around the payload at memory[offset, offset + size): headers are written before it.
// offset >= kHeaderRoom. `own`: the interface's MAC address.
struct FrameMemory {
  wire::Bytes memory;
  size_t offset = 0;
  size_t size = 0;
};

// A MAC address that stands for the sender's, which the kernel does not tell: locally
// administered, made of the address's last bytes, the same for the same address.
wire::MacAddress PlaceholderMac(const wire::IpAddress& address);
wire::MacAddress DestinationMac(const Delivery& delivery, const wire::MacAddress& own);

// Payload: a UDP datagram's. `id`: the IPv4 identification to use.
wire::Bytes BuildUdpFrame(const FrameMemory& payload, const Delivery& delivery,
                          const wire::MacAddress& own, uint16_t source_port,
                          uint16_t destination_port, uint16_t id);
// Payload: an IPv4 packet, header included (as raw sockets give it).
wire::Bytes BuildIpv4Frame(const FrameMemory& payload, const Delivery& delivery,
                           const wire::MacAddress& own);
// Payload: what follows the IPv6 header (as raw sockets give it).
wire::Bytes BuildIpv6Frame(const FrameMemory& payload, const Delivery& delivery,
                           const wire::MacAddress& own, uint8_t protocol);

}  // namespace viaduct::io
