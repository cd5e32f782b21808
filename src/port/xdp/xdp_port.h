// Receives all frames of one interface through AF_XDP sockets: the kernel's fast path for frames,
// before any of its stack (Documentation/networking/af_xdp.rst). With a driver that has zero-copy
// the frames stay where the network card has put them; otherwise the kernel copies each once.
//
// The kernel's stack does not get the frames that an AF_XDP port takes: a packet socket shares an
// interface with the stack, this port does not.
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

// The descriptors from the privileged part (port/xdp/open.h): the interface's XDP program is
// attached, and passes every frame to the kernel as long as its map is empty.
struct XdpSockets {
  int ifindex = 0;
  // AF_XDP, not bound, one for each receive queue of the interface, in their order; with large
  // buffers, and busy polling if it is wanted.
  std::vector<UniqueFd> queues;
  UniqueFd map;      // the program's XSKMAP; key: the queue
  UniqueFd control;  // any other socket of the interface's namespace; it may keep promiscuous mode
  bool native = false;  // the driver runs the program; else the kernel's stack does (generic mode)
  bool busy_poll = false;
  // The TCP and UDP checksums of some frames may not be in their bytes (CHECKSUM_PARTIAL, which XDP
  // does not see): each frame is checked.
  bool may_be_partial = true;
  std::string program;  // the way the program is attached, for people: "alone", "beside 2 others"
  std::shared_ptr<void> keeper;  // destroyed after the sockets are closed: detaches, restores
};

struct XdpOptions {
  // The number of frames that the kernel can store between two calls of Receive(), for each queue;
  // and the number of frames that are being sent. Powers of two.
  uint32_t slots = 4096;
  uint32_t send_slots = 2048;
  bool zero_copy = true;  // if the driver has it
  // The memory that holds the frames; none: the port makes it. Chunks hold a frame, or parts of
  // jumbo frames.
  std::shared_ptr<XdpMemory> memory = nullptr;
};

// The configuration in which a port works, found by trying.
struct XdpState {
  bool native = false, zero_copy = false;
  bool multi_buffer = false;  // frames longer than a chunk arrive in parts, and are put together
  bool busy_poll = false;
  bool needs_wakeup = true;  // XDP_USE_NEED_WAKEUP: system calls only if the kernel asks for them
  bool may_be_partial = false;
  uint32_t queues = 0, chunk_bytes = 0, chunks = 0;
  std::string program;

  std::string Describe() const;  // "native, copied, 1 queue, chunks of 2048 bytes, program alone"
};

// - One thread receives; the same or a second thread sends and calls BytesInFlight(). Ports that
//   share an XdpMemory, and those whose frames are kept, are all served by one thread.
// - Order is kept within a queue, and in sending.
// - VLAN tags, checksums and lengths are as in the bytes: offloads that keep them elsewhere must be
//   off (port/xdp/open.h ensures it).
// - `received` is when the program saw the frame.
// - Sends through the first queue. Frames shorter than an Ethernet header or longer than the MTU
//   (read again after 1 to 10 ms) are refused.
class XdpPort final : public AnyPort {
 public:
  // Registers the memory, binds the sockets, and puts them into the map: from then on frames arrive
  // here. Needs no privilege but locked memory (RLIMIT_MEMLOCK) of the memory's size. Throws
  // EnvironmentError: a queue has a socket already, too little locked memory, MTU too large for a
  // kernel without multi-buffer frames.
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

  // Takes the index-th frame of the last Receive() out of the port, for forwarding without a copy:
  // its bytes stay unchanged in their place until Send() or GiveBack(), of any port of the same
  // memory. None: a frame in several chunks, which was put together elsewhere; or one taken
  // already.
  std::optional<XdpFrame> Keep(size_t index);
  // Sends as Transmit(); frames that are taken belong to the port, sent or not. The rest stays the
  // caller's.
  size_t Send(std::span<const XdpFrame> frames);
  void GiveBack(const XdpFrame& frame);
  const std::shared_ptr<XdpMemory>& memory() const;

  // The number of chunks, and their bytes, that a port needs of a memory.
  static uint32_t ChunksFor(const XdpOptions& options, size_t queues);
  static uint32_t ChunkBytesFor(uint32_t mtu);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace viaduct::io
