// The memory, shared with the kernel, into which a packet socket receives frames.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "port/packet/ring_port.h"
#include "port/packet/vnet_header.h"
#include "port/port.h"
#include "port/shared_counters.h"

namespace viaduct::io {

// A receive ring of a packet socket that has PACKET_VNET_HDR. Used by one thread, except for
// last_status().
class PacketRing {
 public:
  virtual ~PacketRing() = default;
  PacketRing(const PacketRing&) = delete;
  PacketRing& operator=(const PacketRing&) = delete;

  // Receives frames as AnyPort::Receive() does; counts the frames that it returns, and the frames
  // that are too long.
  virtual size_t Receive(std::span<ReceivedFrame> frames) = 0;

  // Skips the frames that this machine sends, if the socket receives them; skipped frames are
  // counted only in `left_out`.
  void LeaveOutOutgoing() { leaves_out_outgoing_ = true; }
  // Returns tp_status of the last frame, which identifies the source of its time stamp. Any thread
  // may call this function.
  uint32_t last_status() const { return last_status_.load(std::memory_order_relaxed); }

 protected:
  explicit PacketRing(SharedCounters& counters) : counters_(counters) {}

  // The fields about a frame that the frame headers of both kinds of rings have.
  struct About {
    uint32_t status = 0;
    uint32_t seconds = 0, nanoseconds = 0;  // the time stamp
    uint16_t vlan_tpid = 0, vlan_tci = 0;   // the VLAN tag that the kernel has removed
  };
  // Whether a frame must be skipped. `address`: the struct sockaddr_ll that the kernel has put
  // before the frame.
  bool IsLeftOut(const std::byte* address);
  // Fills `frame`. The memory before `bytes` must have space for a VnetHeader; a removed VLAN tag
  // is inserted into this space.
  void Describe(const About& about, const VnetHeader& header, std::span<std::byte> bytes,
                ReceivedFrame& frame);

  SharedCounters& counters_;

 private:
  bool leaves_out_outgoing_ = false;
  std::atomic<uint32_t> last_status_ = 0;
};

// The mapped memory of a ring; the destructor unmaps it.
class RingMemory {
 public:
  // `fd`: a packet socket that has a ring of `bytes` bytes. Throws SystemError.
  RingMemory(int fd, size_t bytes);
  RingMemory(const RingMemory&) = delete;
  RingMemory& operator=(const RingMemory&) = delete;
  ~RingMemory();
  std::byte* data() const { return memory_; }

 private:
  std::byte* memory_;
  size_t bytes_;
};

// Creates a ring with these options for a socket that has PACKET_VNET_HDR and is not bound. The
// socket must stay open, and `counters` must outlive the ring. Throws SystemError.
std::unique_ptr<PacketRing> MakeSlotRing(int fd, const RingOptions& options,
                                         SharedCounters& counters);
std::unique_ptr<PacketRing> MakeBlockRing(int fd, const RingOptions& options,
                                          SharedCounters& counters);

// Returns options.slot_bytes or, if that is 0, the length in bytes of the longest frame of the
// interface, VLAN tags included.
size_t LongestFrame(int fd, const RingOptions& options);

}  // namespace viaduct::io
