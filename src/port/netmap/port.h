// A port on an interface in netmap mode: the rings and buffers of the network card are mapped into
// this process (netmap(4); L. Rizzo, "netmap: a novel framework for fast packet I/O", USENIX ATC
// 2012). Includes netmap's public headers, which a build may lack; port/netmap/open.h does not need
// them.
#pragma once

#include <net/netmap_user.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/fd.h"
#include "port/port.h"

namespace viaduct::netmap {

// The registration of an interface with netmap.
struct Registered {
  netmap_if* interface = nullptr;  // points into the mapped memory
  int fd = -1;                     // readable if there are frames; owned by `keeper`
  // A function that makes the kernel process the rings (NIOCTXSYNC, NIOCRXSYNC). It returns 0, or
  // -1 with errno.
  std::function<int(unsigned long request)> sync;
  std::function<bool()> is_up;
  // An object whose destructor releases the interface and unmaps its memory.
  std::shared_ptr<void> keeper;
  uint32_t mtu = 1500;
};

// A port on an interface in netmap mode.
//  - One thread makes all calls. The port receives from all receive rings, in order within each
//    ring, and sends through the first transmit ring.
//  - A received frame stays where the card has put it, until the next Receive(). A frame in several
//    slots (NS_MOREFRAG) is copied into memory of the port.
//  - `received` is the time at which the kernel last processed the ring (NR_TIMESTAMP): not later
//    than the frame was passed to the process, nor earlier than it arrived. `received` is 0 if the
//    kernel has not set a time.
//  - BytesInFlight() is exact: it counts the slots that the kernel has not released.
//  - Frames for which the card had no space are counted by the card only (ip -s link): netmap does
//    not report them.
class Port final : public io::AnyPort {
 public:
  // Throws EnvironmentError if the interface has no rings, or if all buffers of a ring together are
  // too short for a frame of the interface's MTU.
  explicit Port(Registered registered);
  Port(const Port&) = delete;
  Port& operator=(const Port&) = delete;
  ~Port() override;

  size_t Receive(std::span<io::ReceivedFrame> frames) override;
  size_t Transmit(std::span<const io::FrameToSend> frames) override;
  std::span<const uint32_t> Refused() const override { return refused_; }
  size_t BytesInFlight() override;
  int fd() override { return registered_.fd; }
  io::PortCounters Counters() override;
  uint32_t Mtu() const override { return registered_.mtu; }
  bool Up() override { return registered_.is_up(); }
  std::string Description() const override;

 private:
  void ReturnLent();
  size_t ReceiveFrom(netmap_ring& ring, std::span<io::ReceivedFrame> frames, uint32_t* lent);
  bool Gather(netmap_ring& ring, uint32_t first, uint32_t slots, io::ReceivedFrame* frame);
  bool Put(io::FrameToSend frame);
  void Collect();

  Registered registered_;
  netmap_ring* send_;
  std::vector<netmap_ring*> receive_;
  std::vector<uint32_t> lent_;  // for each receive ring: the first slot after the lent frames
  size_t first_ring_ = 0;
  size_t longest_;
  std::vector<std::vector<std::byte>> gathered_;
  size_t gathered_count_ = 0;
  std::vector<uint32_t> bytes_;  // for each slot of the send ring: bytes of a frame in flight
  uint32_t oldest_ = 0;          // the oldest slot that may hold a frame in flight
  size_t in_flight_ = 0;
  std::vector<uint32_t> refused_;
  io::PortCounters counters_;
};

}  // namespace viaduct::netmap
