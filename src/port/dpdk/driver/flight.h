// What of the frames that a device was given has not left.
#pragma once

#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>

#include "port/flight_log.h"

namespace viaduct::dpdk {

// Of a driver that can be asked to give back the buffers of frames that have left
// (rte_eth_tx_done_cleanup()): this keeps a reference to each buffer, so that it is the only one
// when the driver has given up its own. One thread's.
class BufferFlight {
 public:
  // Before the frame is given to the driver.
  static void Hold(rte_mbuf* buffer) { rte_mbuf_refcnt_update(buffer, 1); }
  // The driver has not taken it.
  static void LetGo(rte_mbuf* buffer) { rte_mbuf_refcnt_update(buffer, -1); }
  void Add(rte_mbuf* buffer) {
    sent_.push_back(buffer);
    bytes_ += buffer->pkt_len;
  }
  // Bytes. In the order in which they were sent: what has left before an older one counts until
  // that has.
  size_t Update() {
    while (!sent_.empty() && rte_mbuf_refcnt_read(sent_.front()) == 1) {
      bytes_ -= sent_.front()->pkt_len;
      rte_pktmbuf_free(sent_.front());
      sent_.pop_front();
    }
    return bytes_;
  }
  // The device is closed: none is in flight.
  void Clear() {
    for (rte_mbuf* const buffer : sent_) rte_pktmbuf_free(buffer);
    sent_.clear();
    bytes_ = 0;
  }

 private:
  std::deque<rte_mbuf*> sent_;
  size_t bytes_ = 0;
};

// Of net_af_packet, whose transmit ring (PACKET_TX_RING) the kernel empties. The driver waits
// without limit where its ring is full, so it must not be given more than there is room for. One
// thread's.
class RingFlight {
 public:
  // `socket`: the driver's, which outlives this.
  RingFlight(int socket, uint32_t slots, size_t send_buffer);

  void Add(size_t bytes) {
    log_.Add(bytes);
    in_flight_ += bytes;
    --room_;
    Set(unsent_frames_, unsent_frames_.load(kRelaxed) + 1);
    Set(unsent_bytes_, unsent_bytes_.load(kRelaxed) + bytes);
  }
  // Slots that are free, at least. Asks the kernel if it knows of fewer than are wanted.
  uint32_t Room(size_t wanted);
  // Has the kernel send what it has not, for want of memory or a carrier. False: it has not.
  bool Push();
  // Bytes. A few system calls.
  size_t Update();

  // What was put into the ring since the kernel last took all of it: it takes nothing from an
  // interface that is down or has no carrier, and no more than the socket's memory allows. Any
  // thread.
  struct Unsent {
    uint64_t frames = 0, bytes = 0;
  };
  Unsent unsent() const { return {unsent_frames_.load(kRelaxed), unsent_bytes_.load(kRelaxed)}; }

 private:
  static constexpr auto kRelaxed = std::memory_order_relaxed;
  static void Set(std::atomic<uint64_t>& value, uint64_t to) { value.store(to, kRelaxed); }
  size_t Memory() const;  // of the socket, that frames in flight use

  int socket_;
  uint32_t slots_, room_;
  std::atomic<uint64_t> unsent_frames_ = 0, unsent_bytes_ = 0;
  size_t in_flight_ = 0;
  io::FlightLog log_;
};

}  // namespace viaduct::dpdk
