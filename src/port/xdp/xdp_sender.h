// The sending half of an AF_XDP port (port/xdp/xdp_port.h), used by one thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "port/interface_watch.h"
#include "port/port.h"
#include "port/xdp/xdp_memory.h"
#include "port/xdp/xdp_ring.h"

namespace viaduct::io {

// A frame in an XdpMemory that was taken out of a port, or that is given to a port.
struct XdpFrame {
  uint64_t address = 0;  // offset of the first byte from XdpMemory::data()
  uint32_t length = 0;
};

class XdpSender {
 public:
  // Makes the rings of a socket that is not bound yet. `control`: a socket of the interface's
  // network namespace. Both descriptors must stay open until the destructor runs. Takes chunks for
  // sending from the memory. Throws SystemError; UsageError if the memory has too few chunks.
  XdpSender(int fd, int control, int ifindex, uint32_t slots, std::shared_ptr<XdpMemory> memory);
  XdpSender(const XdpSender&) = delete;
  XdpSender& operator=(const XdpSender&) = delete;
  // Returns the chunks to the memory. The socket must be closed before, so that the kernel no
  // longer uses the memory.
  ~XdpSender();

  void SetZeroCopy(bool on) { is_zero_copy_ = on; }

  size_t Transmit(std::span<const FrameToSend> frames);  // for AnyPort::Transmit()
  size_t Send(std::span<const XdpFrame> frames);         // for XdpPort::Send()
  std::span<const uint32_t> Refused() const { return refused_; }
  size_t BytesInFlight();
  void AddTo(PortCounters* counters) const;  // any thread may call it

 private:
  // The frame of each ring entry; the index is the entry's position modulo the ring's size.
  struct Sent {
    uint32_t index = kEarlier;  // index of the frame in the current call
    uint32_t bytes = 0;         // bytes of the frame in its last entry; 0 in its other entries
  };
  static constexpr uint32_t kEarlier = ~uint32_t{0};

  template <class PutFrame, class MayGo>
  size_t SendAll(size_t frames, const PutFrame& put, const MayGo& may_go);
  uint32_t Put(FrameToSend frame);
  uint32_t PutInPlace(const XdpFrame& frame);
  void Enter(const XdpFrame& part, bool is_continued);
  void Kick(bool was_empty);
  void Process(uint32_t position);
  void DropOne();
  void Refuse(uint32_t index);
  void TakeBack();
  uint32_t Collect();
  void Release(uint64_t address);
  size_t ChunkOf(uint64_t address) const { return address / memory_->chunk_bytes(); }

  using Counter = std::atomic<uint64_t>;

  const int fd_;
  InterfaceWatch watch_;
  std::shared_ptr<XdpMemory> memory_;
  XdpRing<xdp_desc> ring_;
  XdpRing<uint64_t> completed_;
  std::vector<uint32_t> held_;           // for each chunk: number of bytes that are being sent
  std::vector<uint64_t> for_sending_;    // free chunks of this sender
  std::vector<uint8_t> is_for_sending_;  // for each chunk: whether it belongs to this sender
  std::vector<Sent> sent_;
  std::vector<uint32_t> refused_;
  uint32_t processed_ = 0;  // position in the ring up to which the kernel has read
  uint32_t entries_ = 0;    // number of entries that are written but not published
  size_t in_flight_ = 0;
  bool is_zero_copy_ = false;
  struct alignas(64) {
    Counter frames = 0, bytes = 0, dropped_error = 0;
  } counts_;
};

}  // namespace viaduct::io
