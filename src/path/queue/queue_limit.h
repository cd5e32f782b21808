// The limit of a queue in packets, in bytes, or in a time that the link needs to send the packets.
#pragma once

#include "path/queue/queue_discipline.h"

namespace viaduct::path {

class QueueLimit {
 public:
  explicit QueueLimit(const QueueSetup& setup) : limit_(setup.limit), overhead_(setup.overhead) {}

  // Sets the rate, in bit/s. Until the rate is set, a limit in time does not apply.
  void SetRate(int64_t rate) {
    if (limit_.unit != QueueSize::Unit::kTime) return;
    const auto bits = static_cast<__int128>(limit_.amount) * rate / 1000000000;
    time_bytes_ = static_cast<uint64_t>(bits / 8);
  }
  // Returns the bytes of a packet on the link, with which limits in time are computed.
  uint64_t OnLink(const Packet& packet) const {
    return static_cast<uint64_t>(overhead_.Of(packet.bytes));
  }
  // Returns whether a packet may join a queue of this length (`on_link`: the sum of OnLink() of the
  // waiting packets; only for limits in time). An empty queue accepts any packet: otherwise a limit
  // below a frame's length would let no frame through an idle link.
  bool Fits(uint64_t packets, uint64_t bytes, const Packet& packet, uint64_t on_link = 0) const {
    if (packets == 0) return true;
    if (limit_.unit == QueueSize::Unit::kPackets)
      return packets < static_cast<uint64_t>(limit_.amount);
    if (limit_.unit == QueueSize::Unit::kTime) {
      return on_link + OnLink(packet) <= time_bytes_;
    }
    return bytes + packet.bytes <= static_cast<uint64_t>(limit_.amount);
  }

 private:
  QueueSize limit_;
  FrameOverhead overhead_;
  uint64_t time_bytes_ = UINT64_MAX / 2;
};

}  // namespace viaduct::path
