// The log of the frames that a packet socket has sent and that are still with the kernel.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace viaduct::io {

// Computes the bytes in flight of a packet socket from the send memory that the kernel reports for
// the socket (SIOCOUTQ: sk_wmem_alloc). For a packet socket this memory is the sum of the buffers
// (skb->truesize) of the frames that a queueing discipline or a driver holds: each frame counts
// from packet_alloc_skb() (net/packet/af_packet.c) until it is freed or its receiver on this
// machine takes it (sock_wfree(), net/core/sock.c). This class keeps the frames sent, in order,
// with the memory of each, and removes the oldest frames until the sum of their memory is the value
// that the kernel reports. The result is exact if frames leave in the order in which they were
// sent. If a socket uses no memory, nothing is in flight, whatever the assumed sizes of buffers.
//
// Used by one thread; allocates only in the constructor.
class FlightLog {
 public:
  // The source of the socket's frames: sendmsg() calls, or a ring (PACKET_TX_RING).
  enum class Source { kCalls, kRing };

  // `send_buffer`: SO_SNDBUF in bytes, which limits the number of frames in flight.
  explicit FlightLog(size_t send_buffer, Source source = Source::kCalls)
      : frames_(std::bit_ceil(send_buffer / kSmallest + kSlack)), source_(source) {}

  // The minimum memory of a frame, in bytes.
  static constexpr size_t kSmallest = 512;

  // Adds a frame that was sent. `bytes`: the frame's length, from the destination MAC address on.
  void Add(size_t bytes) {
    if (count_ == frames_.size()) TakeOff();
    Frame& frame = frames_[(first_ + count_++) & (frames_.size() - 1)];
    frame = {static_cast<uint32_t>(bytes), MemoryOf(bytes)};
    bytes_ += frame.bytes;
    memory_ += frame.memory;
    ++since_empty_;
  }

  // Returns the bytes of the frames that have not left. `memory`: the current value of SIOCOUTQ.
  size_t Update(size_t memory) {
    if (memory > 0 && since_empty_ == 1 && count_ == 1) Learn(memory);
    while (count_ > 0 && (memory == 0 || memory_ > memory)) TakeOff();
    if (count_ == 0) since_empty_ = memory == 0 ? 0 : kNotAlone;
    return bytes_;
  }

 private:
  struct Frame {
    uint32_t bytes, memory;
  };

  static constexpr size_t kSlack = 64;  // additional frames: the last burst may exceed the buffer
  // The step of buffer sizes: frame lengths that round up to the same multiple of this step have
  // buffers of the same size.
  static constexpr size_t kStep = 64;
  static constexpr size_t kSteps = 65536 / kStep + 8;
  static constexpr uint32_t kNotAlone = 2;

  void TakeOff() {
    const Frame& frame = frames_[first_];
    bytes_ -= frame.bytes;
    memory_ -= frame.memory;
    first_ = (first_ + 1) & (frames_.size() - 1);
    --count_;
  }

  // Learns the memory of a frame from the reported value, which is possible if the frame is the
  // only one that was sent since no frame was in flight.
  void Learn(size_t memory) {
    Frame& frame = frames_[first_];
    frame.memory = static_cast<uint32_t>(memory);
    if (source_ == Source::kRing) {
      overhead_of_ring_ = frame.memory - std::min(frame.bytes, frame.memory);
    } else {
      learned_[StepOf(frame.bytes)] = frame.memory;
    }
    memory_ = memory;
    since_empty_ = kNotAlone;
  }

  static size_t StepOf(size_t bytes) {
    return std::min((bytes + kHeadroom + kStep - 1) / kStep, kSteps - 1);
  }
  static constexpr size_t Aligned(size_t bytes) { return (bytes + kStep - 1) / kStep * kStep; }

  uint32_t MemoryOf(size_t bytes) const {
    if (source_ == Source::kRing) return static_cast<uint32_t>(bytes) + overhead_of_ring_;
    const uint32_t learned = learned_[StepOf(bytes)];
    return learned != 0 ? learned : Assumed(bytes);
  }

  // Returns the memory that packet_alloc_skb() and kmalloc_reserve() (net/core/skbuff.c) use for a
  // frame on 64-bit machines, for interfaces that need no more headroom than Ethernet's: 16 bytes
  // for LL_RESERVED_SPACE(), 320 for skb_shared_info, 256 for sk_buff with its alignment. If a
  // frame needs a page or more, all of the frame but its link-layer header is stored in pages.
  static uint32_t Assumed(size_t bytes) {
    const bool paged = bytes + kHeadroom >= kPage;
    const size_t linear = paged ? kLinkHeader : bytes;
    const size_t head = Aligned(kHeadroom + linear) + kSharedInfo;
    const size_t pages = paged ? (bytes - linear + kPage - 1) / kPage : 0;
    return static_cast<uint32_t>((head <= kSmallHead ? kSmallHead : std::bit_ceil(head)) +
                                 kBufferHead + pages * kPage);
  }
  static constexpr size_t kHeadroom = 16, kLinkHeader = 14, kSharedInfo = 320, kSmallHead = 576,
                          kBufferHead = 256, kPage = 4096;

  std::vector<Frame> frames_;  // a ring buffer; its size is a power of two
  Source source_;
  size_t first_ = 0, count_ = 0;
  size_t bytes_ = 0, memory_ = 0;  // sums over the frames in frames_
  uint32_t since_empty_ = 0;       // frames sent since the socket used no memory
  std::array<uint32_t, kSteps> learned_{};
  // The memory that a frame from a ring uses in addition to the frame's bytes. The buffer has the
  // link-layer header; all other bytes remain in the ring's pages (tpacket_fill_skb()).
  uint32_t overhead_of_ring_ = kSmallHead + kBufferHead - kLinkHeader;
};

}  // namespace viaduct::io
