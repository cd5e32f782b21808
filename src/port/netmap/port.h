// An interface in netmap mode as a port (port/port.h): the network card's own rings and buffers,
// mapped into this process (netmap(4); L. Rizzo, "netmap: a novel framework for fast packet I/O",
// USENIX ATC 2012). Includes netmap's public headers, which a build may lack: see
// port/netmap/open.h.
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

// What the interface is registered as.
struct Registered {
  netmap_if* interface = nullptr;  // in the mapped memory
  int fd = -1;                     // readable when there are frames; owned by `keeper`
  // NIOCTXSYNC, NIOCRXSYNC: the kernel looks at the rings. Returns 0, or -1 with errno.
  std::function<int(unsigned long request)> sync;
  std::function<bool()> is_up;
  // Gives the interface back, and unmaps its memory.
  std::shared_ptr<void> keeper;
  uint32_t mtu = 1500;
};

// - One thread for all. Frames of all receive rings, in order within each; sends by the first ring.
// - A received frame is where the card has put it, until the next Receive(). One in several slots
//   (NS_MOREFRAG) is put together in memory of the port's own.
// - `received` is when the kernel last looked at the ring (NR_TIMESTAMP): not later than the frame
//   was handed over, nor earlier than it came. 0 where it has not.
// - BytesInFlight() is exact: slots that the kernel has not given back.
// - What the card had no room for is its own counters' (ip -s link): netmap does not tell.
class Port final : public io::AnyPort {
 public:
  // Throws EnvironmentError where the interface has no ring, or buffers too short for its MTU in as
  // many slots as a ring has.
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
  std::vector<uint32_t> lent_;  // by receive ring: the head after the frames that are lent
  size_t first_ring_ = 0;
  size_t longest_;
  std::vector<std::vector<std::byte>> gathered_;
  size_t gathered_count_ = 0;
  std::vector<uint32_t> bytes_;  // by slot of the send ring: of a frame that is in flight
  uint32_t oldest_ = 0;          // the first slot that may be in flight
  size_t in_flight_ = 0;
  std::vector<uint32_t> refused_;
  io::PortCounters counters_;
};

}  // namespace viaduct::netmap
