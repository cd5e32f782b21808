// The sending part of ports with packet sockets: sends bursts by sendmmsg() directly from the
// caller's memory.
#pragma once

#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "port/flight_log.h"
#include "port/packet/vnet_header.h"
#include "port/port.h"
#include "port/shared_counters.h"

namespace viaduct::io {

// Sends frames through a packet socket. The functions are those of AnyPort. Used by one thread.
class PacketSender {
 public:
  // `fd`: a packet socket bound to the interface, which must stay open during this object's
  // lifetime. `has_header`: the socket has PACKET_VNET_HDR, so that a header precedes each frame.
  // `counters`: counts the frames that are sent and refused. Throws SystemError.
  PacketSender(int fd, int ifindex, bool has_header, SharedCounters& counters);
  PacketSender(const PacketSender&) = delete;
  PacketSender& operator=(const PacketSender&) = delete;

  size_t Transmit(std::span<const FrameToSend> frames);
  std::span<const uint32_t> Refused() const { return refused_; }
  size_t BytesInFlight();

 private:
  static constexpr size_t kBurst = 64;
  bool IsBackpressure(int error) const;

  int fd_, ifindex_;
  SharedCounters& counters_;
  VnetHeader no_offload_{};
  std::array<iovec, 2 * kBurst> iovecs_{};
  std::array<mmsghdr, kBurst> messages_{};
  std::vector<uint32_t> refused_;
  FlightLog flight_;
};

}  // namespace viaduct::io
