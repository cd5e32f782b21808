// What of the frames that a device was given has not left.
#pragma once

#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include <cstddef>
#include <cstdint>
#include <deque>

#include "io/flight_log.h"

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
    ++unsent_;
  }
  // Slots that are free, at least. A few system calls.
  uint32_t Room();
  // Bytes. A few system calls.
  size_t Update();

 private:
  // The kernel sends what it has not, for want of memory. Returns the socket's memory.
  size_t Push();

  int socket_;
  uint32_t slots_;
  uint32_t unsent_ = 0;  // in the ring since all of it was sent
  io::FlightLog log_;
};

}  // namespace viaduct::dpdk
