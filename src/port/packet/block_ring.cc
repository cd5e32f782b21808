// A ring of blocks (TPACKET_V3). The kernel fills a block with frames of any length, and passes the
// block to the process when it is full or after a timeout.
#include <linux/if_packet.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <memory>

#include "base/socket_option.h"
#include "port/packet/packet_ring.h"

namespace viaduct::io {
namespace {

// The size of a block: space for a full GSO frame and further frames.
constexpr uint32_t kBlockBytes = 256 << 10;
// The minimum time after which the kernel passes a block that is not full to the process.
constexpr uint32_t kRetireMs = 1;

tpacket_req3 SetUpBlocks(int fd, const RingOptions& options) {
  SetSocketOption(fd, SOL_PACKET, PACKET_VERSION, int{TPACKET_V3}, "PACKET_VERSION");
  // The bytes before a frame in its block (tpacket_rcv() in af_packet.c).
  const size_t header = TPACKET_ALIGN(TPACKET3_HDRLEN + 16) + sizeof(VnetHeader);
  const size_t slot = std::bit_ceil(header + LongestFrame(fd, options));
  tpacket_req3 request{};
  request.tp_block_size = kBlockBytes;
  // At least two blocks: the process reads one block while the kernel fills the next.
  request.tp_block_nr = static_cast<uint32_t>(
      std::max<size_t>(2, (options.slots * slot + kBlockBytes - 1) / kBlockBytes));
  request.tp_frame_size = static_cast<uint32_t>(std::min<size_t>(slot, kBlockBytes));
  request.tp_frame_nr = request.tp_block_size / request.tp_frame_size * request.tp_block_nr;
  request.tp_retire_blk_tov = kRetireMs;
  SetSocketOption(fd, SOL_PACKET, PACKET_RX_RING, request, "PACKET_RX_RING");
  return request;
}

class BlockRing final : public PacketRing {
 public:
  BlockRing(int fd, const RingOptions& options, SharedCounters& counters)
      : PacketRing(counters),
        request_(SetUpBlocks(fd, options)),
        ring_(fd, size_t{request_.tp_block_size} * request_.tp_block_nr) {}

  size_t Receive(std::span<ReceivedFrame> frames) override {
    ReturnFinishedBlocks();
    size_t count = 0;
    uint64_t bytes = 0;
    while (count < frames.size() && finished_ < request_.tp_block_nr) {
      if (left_ == 0 && !OpenBlock()) break;
      auto& slot = *reinterpret_cast<tpacket3_hdr*>(next_);
      next_ += slot.tp_next_offset;
      if (--left_ == 0) ++finished_;
      if (IsLeftOut(reinterpret_cast<const std::byte*>(&slot) +
                    TPACKET_ALIGN(sizeof(tpacket3_hdr)))) {
        continue;
      }
      if (slot.tp_snaplen < slot.tp_len) {
        counters_.rx.dropped_truncated.Add(1);
        continue;
      }
      std::byte* const start = reinterpret_cast<std::byte*>(&slot) + slot.tp_mac;
      VnetHeader header;
      std::memcpy(&header, start - sizeof(header), sizeof(header));
      Describe({slot.tp_status, slot.tp_sec, slot.tp_nsec, slot.hv1.tp_vlan_tpid,
                static_cast<uint16_t>(slot.hv1.tp_vlan_tci)},
               header, {start, slot.tp_len}, frames[count]);
      bytes += frames[count].bytes.size();
      ++count;
    }
    counters_.rx.frames.Add(count);
    counters_.rx.bytes.Add(bytes);
    return count;
  }

 private:
  tpacket_block_desc& Block(uint32_t index) const {
    return *reinterpret_cast<tpacket_block_desc*>(ring_.data() +
                                                  size_t{index} * request_.tp_block_size);
  }

  // Returns to the kernel the blocks whose last frames were lent by the previous call.
  void ReturnFinishedBlocks() {
    for (; finished_ > 0; --finished_) {
      std::atomic_ref(Block(first_).hdr.bh1.block_status)
          .store(TP_STATUS_KERNEL, std::memory_order_release);
      first_ = (first_ + 1) % request_.tp_block_nr;
    }
  }

  // Opens the next block. Returns false if the kernel has not passed the block to the process.
  bool OpenBlock() {
    for (; finished_ < request_.tp_block_nr; ++finished_) {
      tpacket_block_desc& block = Block((first_ + finished_) % request_.tp_block_nr);
      const uint32_t status =
          std::atomic_ref(block.hdr.bh1.block_status).load(std::memory_order_acquire);
      if ((status & TP_STATUS_USER) == 0) return false;
      left_ = block.hdr.bh1.num_pkts;
      next_ = reinterpret_cast<std::byte*>(&block) + block.hdr.bh1.offset_to_first_pkt;
      if (left_ > 0) return true;
    }
    return false;
  }

  tpacket_req3 request_;
  RingMemory ring_;
  uint32_t first_ = 0;         // the oldest block that the process owns
  uint32_t finished_ = 0;      // number of blocks that have been read, beginning with first_
  uint32_t left_ = 0;          // number of unread frames in the block after the finished blocks
  std::byte* next_ = nullptr;  // the first of the unread frames
};

}  // namespace

std::unique_ptr<PacketRing> MakeBlockRing(int fd, const RingOptions& options,
                                          SharedCounters& counters) {
  return std::make_unique<BlockRing>(fd, options, counters);
}

}  // namespace viaduct::io
