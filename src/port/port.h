// A port: the place where frames enter and leave a process. All code above this library (the ns-3
// devices, the path engine) uses only this interface.
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
  kInFrame,  // the frame has the checksum, correct or wrong
  // The frame has only the pseudo-header sum; the checksum of the bytes from `checksum_start` on is
  // missing.
  kPartial,
};

// A frame that a port lends to its caller: bytes from the destination MAC address on, without FCS.
struct ReceivedFrame {
  std::span<std::byte> bytes;  // writable; valid until the next Receive() of the port
  Instant received;            // the kernel's time stamp (CLOCK_REALTIME); 0: none
  Checksum checksum = Checksum::kInFrame;
  uint16_t checksum_start = 0;   // offset from the start of the frame where summing begins
  uint16_t checksum_offset = 0;  // offset from checksum_start where the sum is stored
  uint16_t gso_size = 0;         // payload bytes per segment of a TSO/GRO super-frame; else 0
};

// A frame that a caller lends to a port during one call of Transmit().
using FrameToSend = std::span<const std::byte>;

// Numbers of frames and bytes, by their fate. The members `*_dropped_*` count dropped frames, by
// the reason of the drop; every dropped frame is counted.
struct PortCounters {
  uint64_t rx_frames = 0, rx_bytes = 0;
  uint64_t tx_frames = 0, tx_bytes = 0;
  uint64_t rx_dropped_ring_full = 0;  // the kernel had no space to pass the frame to this process
  uint64_t rx_dropped_truncated = 0;  // the frame was longer than the port's maximum
  uint64_t tx_dropped_error = 0;      // the kernel refused the frame (link down, too long)
  uint64_t tx_dropped_unclaimed = 0;  // no socket of a control port can send the frame
  // The number of frames that have arrived and that Receive() has not returned yet; 0 if the port
  // does not know the number.
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

// The interface of all ports: frames enter and leave with one virtual call per burst.
//  - One thread calls Receive(); the same or one other thread calls Transmit() (RingPort, XdpPort).
//    With other ports, one thread calls both, and Counters(). Neither Receive() nor Transmit()
//    allocates, throws, or logs.
class AnyPort {
 public:
  virtual ~AnyPort() = default;
  // Fills at most frames.size() entries, never blocks, and returns the number of filled entries.
  // Entries stay valid until the next Receive(), which takes back the port's buffers.
  virtual size_t Receive(std::span<ReceivedFrame> frames) = 0;
  // Sends frames, and never blocks. Returns the number of frames at the beginning of `frames` that
  // the port took (sent, or dropped and counted). If the number is less than frames.size(), the
  // kernel is out of buffers, and the caller may offer the remaining frames later.
  virtual size_t Transmit(std::span<const FrameToSend> frames) = 0;
  // Returns the indices, in ascending order, of the frames that the last Transmit() took but did
  // not send, because the interface refused them (the interface is down or gone, or its MTU is
  // smaller). Ports that do not know the refused frames return no indices.
  virtual std::span<const uint32_t> Refused() const { return {}; }
  // Returns the bytes of frames that Transmit() took and that are still with the kernel or driver:
  // not sent, dropped or refused. Must be called by the sending thread. Ports that do not know the
  // number return 0.
  virtual size_t BytesInFlight() { return 0; }
  // Returns a descriptor, different from fd(), that becomes writable (epoll, EPOLLOUT | EPOLLET)
  // when frames have left. Returns -1 if there is no such descriptor: the caller must then call
  // BytesInFlight() again after a while.
  virtual int TransmitFd() { return -1; }
  // Returns a descriptor that is readable (poll) if Receive() would return frames; -1 if there is
  // no descriptor to wait for.
  virtual int fd() = 0;
  // Returns the counters. Any thread may call this function of a RingPort or XdpPort.
  virtual PortCounters Counters() = 0;
  // Returns the MTU that the interface had when the port was opened: the largest payload of a frame
  // in bytes, without the Ethernet header and VLAN tags.
  virtual uint32_t Mtu() const { return 1500; }
  // Whether the link passes frames: the interface exists, is up, and has a carrier. Ports that do
  // not know the state of the link return true. Any thread may call this function; it makes a few
  // system calls.
  virtual bool Up() { return true; }
  // Returns a description of the port's type and configuration for people; empty if there is none.
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
