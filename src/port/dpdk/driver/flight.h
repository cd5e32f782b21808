// The frames that a device was given and that have not left.
#pragma once

#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>

#include "port/flight_log.h"

namespace viaduct::dpdk {

// The frames in flight of a driver that can be asked to release the buffers of frames that have
// left (rte_eth_tx_done_cleanup()): this class keeps a reference to each buffer, which is the only
// one after the driver has released its reference. Used by one thread.
class BufferFlight {
 public:
  // Takes a reference before the frame is given to the driver.
  static void Hold(rte_mbuf* buffer) { rte_mbuf_refcnt_update(buffer, 1); }
  // Releases the reference to a frame that the driver has not taken.
  static void LetGo(rte_mbuf* buffer) { rte_mbuf_refcnt_update(buffer, -1); }
  void Add(rte_mbuf* buffer) {
    sent_.push_back(buffer);
    bytes_ += buffer->pkt_len;
  }
  // Returns the bytes in flight. Buffers are released in the order in which they were sent: a frame
  // that has left before an older one counts until the older one has left.
  size_t Update() {
    while (!sent_.empty() && rte_mbuf_refcnt_read(sent_.front()) == 1) {
      bytes_ -= sent_.front()->pkt_len;
      rte_pktmbuf_free(sent_.front());
      sent_.pop_front();
    }
    return bytes_;
  }
  // Forgets all frames: the device is closed, none is in flight.
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
// The driver waits without limit if its ring is full, so it must not be given more frames than
// there are free slots. Used by one thread.
class RingFlight {
 public:
  // `socket`: the driver's, which outlives this object.
  RingFlight(int socket, uint32_t slots, size_t send_buffer);

  void Add(size_t bytes) {
    log_.Add(bytes);
    in_flight_ += bytes;
    --room_;
    Set(unsent_frames_, unsent_frames_.load(kRelaxed) + 1);
    Set(unsent_bytes_, unsent_bytes_.load(kRelaxed) + bytes);
  }
  // Returns a lower limit of the number of free slots. Asks the kernel if it knows of fewer than
  // are wanted.
  uint32_t Room(size_t wanted);
  // Makes the kernel send the frames that it has not sent, for want of memory or a carrier. False:
  // some are still unsent.
  bool Push();
  // Returns the bytes in flight. Makes a few system calls.
  size_t Update();

  // The frames put into the ring since the kernel last took all of it: the kernel takes none for an
  // interface that is down or has no carrier, and no more than the socket's memory allows. Read by
  // any thread.
  struct Unsent {
    uint64_t frames = 0, bytes = 0;
  };
  Unsent unsent() const { return {unsent_frames_.load(kRelaxed), unsent_bytes_.load(kRelaxed)}; }

 private:
  static constexpr auto kRelaxed = std::memory_order_relaxed;
  static void Set(std::atomic<uint64_t>& value, uint64_t to) { value.store(to, kRelaxed); }
  size_t Memory() const;  // the socket's memory that frames in flight use

  int socket_;
  uint32_t slots_, room_;
  std::atomic<uint64_t> unsent_frames_ = 0, unsent_bytes_ = 0;
  size_t in_flight_ = 0;
  io::FlightLog log_;
};

}  // namespace viaduct::dpdk
