#include "remote/tunnel/client_port.h"

#include <utility>

#include "base/clock.h"

namespace viaduct::tunnel {

ClientPort::ClientPort(std::unique_ptr<io::AnyPort> frames, std::vector<wire::IpAddress> own)
    : frames_(std::move(frames)), wire_(std::move(own), frames_->Mtu()) {}

size_t ClientPort::Receive(std::span<io::ReceivedFrame> packets) {
  // Continues after a burst that has no packet for the node, because further bursts may follow.
  while (const size_t count = frames_->Receive(packets)) {
    const Instant now = MonotonicClock::Now();
    size_t kept = 0;
    for (io::ReceivedFrame& frame : packets.first(count)) {
      const auto packet =
          wire_.Take(frame.bytes, now, [this](wire::ConstBytes answer) { Queue(answer); });
      if (!packet) continue;
      io::ReceivedFrame taken = frame;
      taken.bytes = frame.bytes.last(packet->size());
      taken.checksum_start -= static_cast<uint16_t>(frame.bytes.size() - packet->size());
      packets[kept++] = taken;
    }
    Flush();
    if (kept > 0) return kept;
  }
  return 0;
}

size_t ClientPort::Transmit(std::span<const io::FrameToSend> packets) {
  const Instant now = MonotonicClock::Now();
  if (!Flush()) return 0;
  for (const io::FrameToSend packet : packets) {
    wire_.Give(packet, now, [this](wire::ConstBytes frame) { Queue(frame); });
  }
  Flush();
  return packets.size();
}

void ClientPort::Queue(wire::ConstBytes frame) {
  waiting_.insert(waiting_.end(), frame.begin(), frame.end());
  sizes_.push_back(frame.size());
}

bool ClientPort::Flush() {
  if (sizes_.empty()) return true;
  std::vector<io::FrameToSend> frames;
  frames.reserve(sizes_.size());
  size_t at = 0;
  for (const size_t size : sizes_) {
    frames.emplace_back(waiting_.data() + at, size);
    at += size;
  }
  const size_t taken = frames_->Transmit(frames);
  size_t left = 0;
  for (size_t i = 0; i < taken; ++i) left += sizes_[i];
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(left));
  sizes_.erase(sizes_.begin(), sizes_.begin() + static_cast<std::ptrdiff_t>(taken));
  return sizes_.empty();
}

io::PortCounters ClientPort::Counters() {
  io::PortCounters counters = frames_->Counters();
  counters.tx_dropped_error += wire_.unresolved();
  return counters;
}

}  // namespace viaduct::tunnel
