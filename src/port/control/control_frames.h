// Builds the frames of a control port from a socket's payload and metadata. No I/O here.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/wire/address.h"
#include "base/wire/bytes.h"

namespace viaduct::io {

// The metadata of a packet that a socket reports in addition to the payload.
struct Delivery {
  wire::IpAddress source;
  wire::IpAddress destination;  // the address in the IP header
  uint8_t ttl = 64;             // or hop limit
  uint8_t traffic_class = 0;    // or TOS
  bool broadcast = false;
};

// Space for the headers that are written before a payload: Ethernet, IPv6, UDP.
inline constexpr size_t kHeaderRoom = 64;

// The memory in which a frame is built: the payload is at memory[offset, offset + size), and
// headers are written before it. offset >= kHeaderRoom.
struct FrameMemory {
  wire::Bytes memory;
  size_t offset = 0;
  size_t size = 0;
};

// Returns a MAC address in place of the sender's, which the kernel does not report: locally
// administered, derived from the last bytes of `address`, so the same for the same address.
wire::MacAddress PlaceholderMac(const wire::IpAddress& address);
wire::MacAddress DestinationMac(const Delivery& delivery, const wire::MacAddress& own);

// Builds a frame from the payload of a UDP datagram. `own`: the interface's MAC address. `id`: the
// IPv4 identification to use.
wire::Bytes BuildUdpFrame(const FrameMemory& payload, const Delivery& delivery,
                          const wire::MacAddress& own, uint16_t source_port,
                          uint16_t destination_port, uint16_t id);
// Builds a frame from an IPv4 packet with its header (as raw sockets deliver it).
wire::Bytes BuildIpv4Frame(const FrameMemory& payload, const Delivery& delivery,
                           const wire::MacAddress& own);
// Builds a frame from the bytes that follow the IPv6 header (as raw sockets deliver them).
wire::Bytes BuildIpv6Frame(const FrameMemory& payload, const Delivery& delivery,
                           const wire::MacAddress& own, uint8_t protocol);

}  // namespace viaduct::io
