// How much may wait before a link: packets, bytes, or what the link sends in a time.
#pragma once

#include "path/queue/queue_discipline.h"

namespace viaduct::path {

class QueueLimit {
 public:
  explicit QueueLimit(QueueSize limit) : limit_(limit) {}

  // bit/s. Until it is told, a limit in time holds nothing back.
  void SetRate(int64_t rate) {
    if (limit_.unit != QueueSize::Unit::kTime) return;
    const auto bits = static_cast<__int128>(limit_.amount) * rate / 1000000000;
    time_bytes_ = static_cast<uint64_t>(bits / 8);
  }
  // Whether a packet may join these. A queue where nobody waits takes any packet: otherwise a limit
  // below a frame's length would let nothing through an idle link.
  bool Fits(uint64_t packets, uint64_t bytes, const Packet& packet) const {
    if (packets == 0) return true;
    if (limit_.unit == QueueSize::Unit::kPackets)
      return packets < static_cast<uint64_t>(limit_.amount);
    return bytes + packet.bytes <= MaxBytes();
  }

 private:
  uint64_t MaxBytes() const {
    return limit_.unit == QueueSize::Unit::kTime ? time_bytes_
                                                 : static_cast<uint64_t>(limit_.amount);
  }
  QueueSize limit_;
  uint64_t time_bytes_ = UINT64_MAX / 2;
};

}  // namespace viaduct::path
