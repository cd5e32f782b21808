// The frames in flight: frames that were given to a device and have not left it.
#pragma once

#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>

#include "port/flight_log.h"

namespace viaduct::dpdk {

// The frames in flight of a driver that releases the buffers of sent frames on request
// (rte_eth_tx_done_cleanup()). This class keeps a reference to each buffer: the buffer's frame has
// left when this is the only reference to the buffer. Used by one thread.
class BufferFlight {
 public:
  // Adds a reference to a buffer. Must be called before the driver gets the buffer.
  static void Hold(rte_mbuf* buffer) { rte_mbuf_refcnt_update(buffer, 1); }
  // Removes the added reference to a buffer that the driver has not taken.
  static void LetGo(rte_mbuf* buffer) { rte_mbuf_refcnt_update(buffer, -1); }
  void Add(rte_mbuf* buffer) {
    sent_.push_back(buffer);
    bytes_ += buffer->pkt_len;
  }
  // Returns the bytes in flight. Buffers are checked in the order in which they were sent: a frame
  // that leaves before an older frame still counts until the older frame has left.
  size_t Update() {
    while (!sent_.empty() && rte_mbuf_refcnt_read(sent_.front()) == 1) {
      bytes_ -= sent_.front()->pkt_len;
      rte_pktmbuf_free(sent_.front());
      sent_.pop_front();
    }
    return bytes_;
  }
  // Clears the list: after the device is closed no frame is in flight.
  void Clear() {
    for (rte_mbuf* const buffer : sent_) rte_pktmbuf_free(buffer);
    sent_.clear();
    bytes_ = 0;
  }

 private:
  std::deque<rte_mbuf*> sent_;
  size_t bytes_ = 0;
};

// The frames in flight of net_af_packet, whose transmit ring (PACKET_TX_RING) the kernel empties.
// If its ring is full, the driver waits without limit, so the caller must not pass more frames to
// the driver than the ring has free slots. Used by one thread.
class RingFlight {
 public:
  // `socket`: the packet socket of the driver, which must outlive this object.
  RingFlight(int socket, uint32_t slots, size_t send_buffer);

  void Add(size_t bytes) {
    log_.Add(bytes);
    in_flight_ += bytes;
    --room_;
    Set(unsent_frames_, unsent_frames_.load(kRelaxed) + 1);
    Set(unsent_bytes_, unsent_bytes_.load(kRelaxed) + bytes);
  }
  // Returns a lower limit of the number of free slots. Asks the kernel only if fewer than `wanted`
  // slots are known to be free.
  uint32_t Room(size_t wanted);
  // Makes the kernel send the frames that are unsent because memory or a carrier was missing.
  // Returns false if some frames are still unsent.
  bool Push();
  // Returns the bytes in flight. Makes a few system calls.
  size_t Update();

  // The unsent frames: those put into the ring since the kernel last took all frames of the ring.
  // The kernel takes no frame for an interface that is down or has no carrier, and no more frames
  // than the socket's send memory allows. Any thread may read the numbers.
  struct Unsent {
    uint64_t frames = 0, bytes = 0;
  };
  Unsent unsent() const { return {unsent_frames_.load(kRelaxed), unsent_bytes_.load(kRelaxed)}; }

 private:
  static constexpr auto kRelaxed = std::memory_order_relaxed;
  static void Set(std::atomic<uint64_t>& value, uint64_t to) { value.store(to, kRelaxed); }
  size_t Memory() const;  // bytes of socket memory that frames in flight use

  int socket_;
  uint32_t slots_, room_;
  std::atomic<uint64_t> unsent_frames_ = 0, unsent_bytes_ = 0;
  size_t in_flight_ = 0;
  io::FlightLog log_;
};

}  // namespace viaduct::dpdk
