// Receives all frames of one interface through AF_XDP sockets: the kernel passes frames to them
// before its network stack (Documentation/networking/af_xdp.rst). With a driver that supports
// zero-copy, frames stay where the network card has put them; otherwise the kernel copies each
// frame once.
//
// The kernel's stack does not get the frames that an AF_XDP port takes: a packet socket shares an
// interface with the stack, an AF_XDP port does not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/fd.h"
#include "port/port.h"
#include "port/xdp/xdp_memory.h"
#include "port/xdp/xdp_sender.h"

namespace viaduct::io {

// The descriptors that the privileged part has opened (port/xdp/open.h). The interface's XDP
// program is attached, and passes every frame to the kernel as long as its map is empty.
struct XdpSockets {
  int ifindex = 0;
  // AF_XDP sockets, not bound, one for each receive queue of the interface, in the order of the
  // queues; with large buffers and, if requested, busy polling.
  std::vector<UniqueFd> queues;
  UniqueFd map;         // the program's XSKMAP; key: the queue
  UniqueFd control;     // another socket of the interface's namespace; may keep promiscuous mode
  bool native = false;  // the driver runs the program; else the kernel's stack (generic mode)
  bool busy_poll = false;
  // Whether the TCP and UDP checksums of some frames may be missing in their bytes
  // (CHECKSUM_PARTIAL, which XDP does not see). If so, each frame is checked.
  bool may_be_partial = true;
  std::string program;  // Program::Placement()
  // An object that detaches the program and restores the interface's settings; destroyed after the
  // sockets are closed.
  std::shared_ptr<void> keeper;
};

struct XdpOptions {
  // The number of frames that the kernel can store for each queue between two calls of Receive()
  // (`slots`), and the number of frames that can be in flight (`send_slots`). Powers of two.
  uint32_t slots = 4096;
  uint32_t send_slots = 2048;
  bool zero_copy = true;  // use zero-copy if the driver supports it
  // The memory that holds the frames. If the pointer is null, the port allocates the memory. A
  // chunk holds a frame, or a part of a jumbo frame.
  std::shared_ptr<XdpMemory> memory = nullptr;
};

// The configuration in which a port works, found by trying.
struct XdpState {
  bool native = false, zero_copy = false;
  bool multi_buffer = false;  // frames longer than a chunk arrive in parts, which are combined
  bool busy_poll = false;
  bool needs_wakeup = true;  // XDP_USE_NEED_WAKEUP: system calls only if the kernel asks for them
  bool may_be_partial = false;
  uint32_t queues = 0, chunk_bytes = 0, chunks = 0;
  std::string program;

  // Returns, for example, "native mode, copy mode, 1 queue, chunks of 2048 bytes, only XDP program
  // on the interface".
  std::string Describe() const;
};

// A port on an interface, through AF_XDP sockets.
//  - One thread receives; the same or a second thread sends and calls BytesInFlight(). All ports
//    that share an XdpMemory must be used by one thread; so must a port from which frames are kept
//    (Keep()).
//  - Received frames of one queue keep their order, and so do sent frames.
//  - VLAN tags, checksums and lengths are taken from the frame's bytes: offloads that keep these
//    values outside the bytes must be off (port/xdp/open.h ensures it).
//  - `received` is the time at which the XDP program saw the frame.
//  - Sends through the first queue. Frames shorter than an Ethernet header or longer than the MTU
//    (read again after 1 to 10 ms) are refused.
class XdpPort final : public AnyPort {
 public:
  // Registers the memory, binds the sockets, and puts them into the map. After that the port gets
  // the interface's frames. Needs no privilege, but locked memory (RLIMIT_MEMLOCK) of the memory's
  // size. Throws EnvironmentError if a queue has a socket already, if there is too little locked
  // memory, or if the MTU is too large for a kernel without multi-buffer frames.
  XdpPort(XdpSockets sockets, const XdpOptions& options);
  XdpPort(XdpPort&&) noexcept;
  XdpPort& operator=(XdpPort&&) noexcept;
  ~XdpPort() override;

  size_t Receive(std::span<ReceivedFrame> frames) override;
  size_t Transmit(std::span<const FrameToSend> frames) override;
  std::span<const uint32_t> Refused() const override;
  size_t BytesInFlight() override;
  int fd() override;
  PortCounters Counters() override;
  bool Up() override;
  uint32_t Mtu() const override;
  std::string Description() const override;

  const XdpState& state() const;

  // Takes the index-th frame of the last Receive() out of the port, to forward it without a copy:
  // its bytes stay in their place until Send() or GiveBack() of any port with the same memory.
  // Returns nothing for a frame in several chunks, which was copied, and for a frame that was taken
  // already.
  std::optional<XdpFrame> Keep(size_t index);
  // Sends frames as Transmit() does. Frames that Send() takes belong to the port, whether they are
  // sent or not; all other frames still belong to the caller.
  size_t Send(std::span<const XdpFrame> frames);
  void GiveBack(const XdpFrame& frame);
  const std::shared_ptr<XdpMemory>& memory() const;

  // The number of chunks that a port needs of a memory, and the size of a chunk.
  static uint32_t ChunksFor(const XdpOptions& options, size_t queues);
  static uint32_t ChunkBytesFor(uint32_t mtu);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace viaduct::io
