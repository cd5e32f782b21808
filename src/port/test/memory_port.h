// Two ports joined in memory, for tests: each port receives the frames that its peer transmits.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "port/port.h"

namespace viaduct::io {

// One of two ports joined in memory. One thread uses both ports. If a direction is full, Transmit()
// takes fewer frames than it was given (back-pressure). All memory is allocated at the start.
class MemoryPort final : public AnyPort {
 public:
  // Returns a pair of joined ports. `capacity`: the maximum number of frames in flight in each
  // direction; `max_frame`: longer frames are counted as tx_dropped_error. Throws SystemError.
  static std::pair<MemoryPort, MemoryPort> MakePair(size_t capacity = 256, size_t max_frame = 2048);

  size_t Receive(std::span<ReceivedFrame> frames) override;
  size_t Transmit(std::span<const FrameToSend> frames) override;
  std::span<const uint32_t> Refused() const override { return refused_; }
  int fd() override { return in_->readable.get(); }
  PortCounters Counters() override {
    PortCounters counters = counters_;
    counters.rx_waiting = in_->used - in_->lent;
    return counters;
  }

  // Sets the metadata of the next sent frame, for example the metadata of a frame from a kernel
  // with offloads, or a time stamp. `metadata.bytes` is not used.
  void SetNextMetadata(const ReceivedFrame& metadata) { next_ = metadata; }

 private:
  // One direction: a ring of frames. The frames [head, head + lent) are lent to the receiver.
  struct Queue {
    Queue(size_t capacity, size_t max_frame);
    size_t Slot(size_t index) const { return (head + index) % frames.size(); }
    void SetReadable(bool now);

    size_t max_frame;
    std::vector<ReceivedFrame> frames;  // `bytes`: the part of `memory` that the frame fills
    std::vector<std::byte> memory;
    size_t head = 0, used = 0, lent = 0;
    UniqueFd readable;  // an eventfd
    bool is_readable = false;
  };

  MemoryPort(std::shared_ptr<Queue> in, std::shared_ptr<Queue> out)
      : in_(std::move(in)), out_(std::move(out)) {}

  std::shared_ptr<Queue> in_, out_;
  ReceivedFrame next_;
  PortCounters counters_;
  std::vector<uint32_t> refused_;
};

}  // namespace viaduct::io
