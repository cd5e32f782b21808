// A ring of slots of one size (TPACKET_V2): each frame is available as soon as the kernel has put
// it into its slot.
#include <linux/if_packet.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <memory>

#include "base/socket_option.h"
#include "port/packet/packet_ring.h"

namespace viaduct::io {
namespace {

// The maximum number of lent frames that are longer than a slot, and the maximum length of such a
// frame (a full GSO frame).
constexpr size_t kLongFrames = 16;
constexpr size_t kLongFrameBytes = 65536 + 256;
constexpr size_t kPage = 4096;

size_t SlotBytes(int fd, const RingOptions& options) {
  // The bytes before a frame in its slot (tpacket_rcv() in af_packet.c).
  const size_t header = TPACKET_ALIGN(TPACKET2_HDRLEN + 16) + sizeof(VnetHeader);
  return std::bit_ceil(header + LongestFrame(fd, options));
}

tpacket_req SetUpSlots(int fd, const RingOptions& options) {
  SetSocketOption(fd, SOL_PACKET, PACKET_VERSION, int{TPACKET_V2}, "PACKET_VERSION");
  SetSocketOption(fd, SOL_PACKET, PACKET_COPY_THRESH, 1, "PACKET_COPY_THRESH");
  tpacket_req request{};
  request.tp_frame_size = static_cast<uint32_t>(SlotBytes(fd, options));
  // The kernel can easily allocate blocks of 64 KiB; no slot is in two blocks.
  request.tp_block_size = std::max<uint32_t>(16 * kPage, request.tp_frame_size);
  const uint32_t per_block = request.tp_block_size / request.tp_frame_size;
  request.tp_block_nr = (std::max<uint32_t>(options.slots, 1) + per_block - 1) / per_block;
  request.tp_frame_nr = request.tp_block_nr * per_block;
  SetSocketOption(fd, SOL_PACKET, PACKET_RX_RING, request, "PACKET_RX_RING");
  return request;
}

class SlotRing final : public PacketRing {
 public:
  SlotRing(int fd, const RingOptions& options, SharedCounters& counters)
      : PacketRing(counters),
        fd_(fd),
        request_(SetUpSlots(fd, options)),
        ring_(fd, size_t{request_.tp_block_size} * request_.tp_block_nr),
        long_frames_(std::make_unique_for_overwrite<LongFrame[]>(kLongFrames)) {}

  size_t Receive(std::span<ReceivedFrame> frames) override {
    ReturnLentSlots();
    size_t count = 0;
    size_t long_used = 0;
    uint64_t bytes = 0;
    while (count < frames.size() && lent_ < request_.tp_frame_nr) {
      tpacket2_hdr* const slot = Slot((first_lent_ + lent_) % request_.tp_frame_nr);
      const uint32_t status = std::atomic_ref(slot->tp_status).load(std::memory_order_acquire);
      if ((status & TP_STATUS_USER) == 0) break;
      if ((status & TP_STATUS_COPY) != 0 && long_used == kLongFrames) break;
      ++lent_;
      if (IsLeftOut(reinterpret_cast<const std::byte*>(slot) +
                    TPACKET_ALIGN(sizeof(tpacket2_hdr)))) {
        if ((status & TP_STATUS_COPY) != 0) DiscardLong();
        continue;
      }
      ReceivedFrame& frame = frames[count];
      const bool whole = (status & TP_STATUS_COPY) != 0
                             ? TakeLong(*slot, status, long_frames_[long_used], frame)
                             : TakeFromSlot(*slot, status, frame);
      if (!whole) {
        counters_.rx.dropped_truncated.Add(1);
        continue;
      }
      if ((status & TP_STATUS_COPY) != 0) ++long_used;
      ++count;
      bytes += frame.bytes.size();
    }
    counters_.rx.frames.Add(count);
    counters_.rx.bytes.Add(bytes);
    return count;
  }

 private:
  // A frame received by recvmsg(): a VnetHeader, then the frame. A removed VLAN tag is inserted
  // into the bytes of the header, as in a slot.
  using LongFrame = std::array<std::byte, kLongFrameBytes>;

  tpacket2_hdr* Slot(uint32_t index) const {
    return reinterpret_cast<tpacket2_hdr*>(ring_.data() + size_t{index} * request_.tp_frame_size);
  }

  static About AboutOf(const tpacket2_hdr& slot, uint32_t status) {
    return {status, slot.tp_sec, slot.tp_nsec, slot.tp_vlan_tpid, slot.tp_vlan_tci};
  }

  void ReturnLentSlots() {
    for (; lent_ > 0; --lent_) {
      std::atomic_ref(Slot(first_lent_)->tp_status)
          .store(TP_STATUS_KERNEL, std::memory_order_release);
      first_lent_ = (first_lent_ + 1) % request_.tp_frame_nr;
    }
  }

  void DiscardLong() {
    std::byte nothing;
    recv(fd_, &nothing, sizeof nothing, MSG_DONTWAIT | MSG_TRUNC);
  }

  bool TakeFromSlot(tpacket2_hdr& slot, uint32_t status, ReceivedFrame& frame) {
    if (slot.tp_snaplen < slot.tp_len) return false;
    std::byte* const start = reinterpret_cast<std::byte*>(&slot) + slot.tp_mac;
    VnetHeader header;
    std::memcpy(&header, start - sizeof(header), sizeof(header));
    Describe(AboutOf(slot, status), header, {start, slot.tp_len}, frame);
    return true;
  }

  // Receives a frame that is longer than a slot: the kernel queues a copy of each such frame for
  // recvmsg(), in the order of the slots.
  bool TakeLong(const tpacket2_hdr& slot, uint32_t status, LongFrame& memory,
                ReceivedFrame& frame) {
    iovec part = {memory.data(), memory.size()};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    const ssize_t length = recvmsg(fd_, &message, MSG_DONTWAIT);
    VnetHeader header;
    if (length < 0 || (message.msg_flags & MSG_TRUNC) != 0) return false;
    if (static_cast<size_t>(length) != sizeof(header) + slot.tp_len) return false;
    std::memcpy(&header, memory.data(), sizeof(header));
    Describe(AboutOf(slot, status), header, {memory.data() + sizeof(header), slot.tp_len}, frame);
    return true;
  }

  int fd_;
  tpacket_req request_;
  RingMemory ring_;
  std::unique_ptr<LongFrame[]> long_frames_;
  uint32_t first_lent_ = 0;
  uint32_t lent_ = 0;
};

}  // namespace

std::unique_ptr<PacketRing> MakeSlotRing(int fd, const RingOptions& options,
                                         SharedCounters& counters) {
  return std::make_unique<SlotRing>(fd, options, counters);
}

}  // namespace viaduct::io
