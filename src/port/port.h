// A port: how frames enter and leave a process. Everything above this library (the ns-3 devices,
// the path engine) uses only this interface.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "base/time.h"

namespace viaduct::io {

// The state of a frame's transport checksum (Linux: ip_summed).
enum class Checksum : uint8_t {
  kInFrame,  // the bytes hold it (right or wrong)
  kPartial,  // the bytes hold the pseudo-header sum only; must be completed from `checksum_start`
};

// A frame that a port lends to its caller: bytes from the destination MAC on, without FCS.
struct ReceivedFrame {
  std::span<std::byte> bytes;  // writable; valid until the next Receive() on the same port
  Instant received;            // CLOCK_REALTIME stamp of the kernel if it has one, else 0
  Checksum checksum = Checksum::kInFrame;
  uint16_t checksum_start = 0;   // offset from the start of the frame where summing begins
  uint16_t checksum_offset = 0;  // offset from checksum_start where the sum is stored
  uint16_t gso_size = 0;         // 0, or the payload size to cut a TSO/GRO super-frame into
};

// A frame that a caller lends to a port during one Transmit().
using FrameToSend = std::span<const std::byte>;

// Frames and bytes by what happened to them. `*_dropped_*` name the reason; every dropped frame is
// counted.
struct PortCounters {
  uint64_t rx_frames = 0, rx_bytes = 0;
  uint64_t tx_frames = 0, tx_bytes = 0;
  uint64_t rx_dropped_ring_full = 0;  // the kernel had no space to pass the frame to this process
  uint64_t rx_dropped_truncated = 0;  // longer than the port's maximum
  uint64_t tx_dropped_error = 0;      // the kernel refused the frame (link down, too long)
  uint64_t tx_dropped_unclaimed = 0;  // no socket of a control port can express the frame
  // Frames that have arrived, and Receive() has not returned yet. 0: none, or the port cannot know.
  uint64_t rx_waiting = 0;

  PortCounters& operator+=(const PortCounters& other) {
    rx_frames += other.rx_frames;
    rx_bytes += other.rx_bytes;
    tx_frames += other.tx_frames;
    tx_bytes += other.tx_bytes;
    rx_dropped_ring_full += other.rx_dropped_ring_full;
    rx_dropped_truncated += other.rx_dropped_truncated;
    tx_dropped_error += other.tx_dropped_error;
    tx_dropped_unclaimed += other.tx_dropped_unclaimed;
    rx_waiting += other.rx_waiting;
    return *this;
  }
};

// The interface of a port: frames enter and leave with one virtual call per burst.
//  - One thread calls Receive(); the same or one other thread calls Transmit() (RingPort, XdpPort;
//    other ports: one thread for both, and for Counters()). Neither call allocates, throws, or
//    logs.
class AnyPort {
 public:
  virtual ~AnyPort() = default;
  // Fills at most frames.size() entries, never blocks, returns their number; entries stay valid
  // until the next Receive() (which takes the port's buffers back).
  virtual size_t Receive(std::span<ReceivedFrame> frames) = 0;
  // Never blocks; returns the number of frames, from the first on, that were taken (sent or
  // dropped-and-counted). Fewer than all means that the kernel is out of buffers: the caller may
  // offer the rest later.
  virtual size_t Transmit(std::span<const FrameToSend> frames) = 0;
  // Returns the frames of the last Transmit(), by index and in their order, that were taken but not
  // sent, because the interface refused them (it is down, gone, or its MTU is smaller). Ports that
  // cannot know return none.
  virtual std::span<const uint32_t> Refused() const { return {}; }
  // Returns the bytes of frames taken by Transmit() that are still with the kernel or driver: not
  // sent, dropped or refused. Called by the sending thread. Ports that cannot know return 0.
  virtual size_t BytesInFlight() { return 0; }
  // Returns a descriptor different from fd() that becomes writable (epoll, EPOLLOUT | EPOLLET) when
  // frames have left; -1: there is none, and the caller asks again after a while.
  virtual int TransmitFd() { return -1; }
  // Returns a descriptor that is readable (poll) if Receive() would return something; -1 if there
  // is nothing to wait for.
  virtual int fd() = 0;
  // Called by any thread (RingPort, XdpPort).
  virtual PortCounters Counters() = 0;
  // The largest payload of a frame when the port was opened, in bytes, without the Ethernet header
  // and VLAN tags.
  virtual uint32_t Mtu() const { return 1500; }
  // Whether frames can pass: the interface exists, is up, and has a carrier. Ports that cannot know
  // return true. Called by any thread; makes a few system calls.
  virtual bool Up() { return true; }
  // The port's type and configuration, for people. Empty: no description.
  virtual std::string Description() const { return ""; }

 protected:
  AnyPort() = default;
  AnyPort(AnyPort&&) = default;
  AnyPort& operator=(AnyPort&&) = default;
};

template <std::derived_from<AnyPort> P>
std::unique_ptr<AnyPort> Hold(P port) {
  return std::make_unique<P>(std::move(port));
}

}  // namespace viaduct::io
