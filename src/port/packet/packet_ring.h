// Where the kernel puts the frames that a packet socket receives: memory that it shares with us.
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

// One thread but for last_status(). The socket has PACKET_VNET_HDR.
class PacketRing {
 public:
  virtual ~PacketRing() = default;
  PacketRing(const PacketRing&) = delete;
  PacketRing& operator=(const PacketRing&) = delete;

  // As AnyPort::Receive(); counts frames that are too long, and what it returns.
  virtual size_t Receive(std::span<ReceivedFrame> frames) = 0;

  // Frames that this machine sends are skipped, counted in nothing but `left_out`, if there are
  // any.
  void LeaveOutOutgoing() { leaves_out_outgoing_ = true; }
  // tp_status of the last frame, which says whose its stamp is; any thread.
  uint32_t last_status() const { return last_status_.load(std::memory_order_relaxed); }

 protected:
  explicit PacketRing(SharedCounters& counters) : counters_(counters) {}

  // What the headers of all rings say of a frame.
  struct About {
    uint32_t status = 0;
    uint32_t seconds = 0, nanoseconds = 0;  // its stamp
    uint16_t vlan_tpid = 0, vlan_tci = 0;   // the tag that the kernel has taken off
  };
  // Whether it is to be skipped. `address`: the struct sockaddr_ll that the kernel has put before
  // it.
  bool IsLeftOut(const std::byte* address);
  // `bytes` has at least a VnetHeader of room before it, for the tag.
  void Describe(const About& about, const VnetHeader& header, std::span<std::byte> bytes,
                ReceivedFrame& frame);

  SharedCounters& counters_;

 private:
  bool leaves_out_outgoing_ = false;
  std::atomic<uint32_t> last_status_ = 0;
};

// The memory of a ring; ends with this.
class RingMemory {
 public:
  // `fd`: a packet socket that has a ring of so many bytes. Throws SystemError.
  RingMemory(int fd, size_t bytes);
  RingMemory(const RingMemory&) = delete;
  RingMemory& operator=(const RingMemory&) = delete;
  ~RingMemory();
  std::byte* data() const { return memory_; }

 private:
  std::byte* memory_;
  size_t bytes_;
};

// Gives a socket (which has PACKET_VNET_HDR, and is not bound) a ring as the options say. The
// socket must stay open, and `counters` there. Throws SystemError.
std::unique_ptr<PacketRing> MakeSlotRing(int fd, const RingOptions& options,
                                         SharedCounters& counters);
std::unique_ptr<PacketRing> MakeBlockRing(int fd, const RingOptions& options,
                                          SharedCounters& counters);

// The longest frame of the interface, tags included, or the options' slot_bytes. Bytes.
size_t LongestFrame(int fd, const RingOptions& options);

}  // namespace viaduct::io
