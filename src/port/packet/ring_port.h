// Receives all frames of one interface through an AF_PACKET ring (TPACKET_V2 or V3), and sends with
// sendmmsg().
//
// Of the methods that Linux offers, a V2 receive ring combined with sendmmsg() directly from the
// caller's memory was the fastest with low latency. A V3 ring adds up to a millisecond; transmit
// rings and AF_XDP cost more per frame on veth.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/fd.h"
#include "port/port.h"

namespace viaduct::io {

struct RingOptions {
  int ifindex = 0;
  uint16_t ether_type = 0x0003;  // EtherType to receive, host byte order; default: ETH_P_ALL
  uint32_t slots = 4096;         // frames that the kernel stores between two calls of Receive()
  // The capacity of a ring slot, in bytes. Longer frames (segmentation offload is on) arrive
  // complete, but by a slower method. 0: the interface's MTU plus the link-layer headers.
  uint32_t slot_bytes = 0;
  // Bypass the queueing discipline when sending (PACKET_QDISC_BYPASS), which is faster. Must be off
  // if the interface has a qdisc that shapes the sent frames.
  bool qdisc_bypass = true;
  // Receive the frames that this machine sends on the interface as well. Frames that bypass the
  // qdisc are not received, because the kernel passes them to no socket.
  bool outgoing = false;
  // Set `received` to the time at which the kernel's stack got the frame from the driver
  // (SO_TIMESTAMPING), not to the time at which the kernel put the frame into the ring. The
  // difference is the time that the frame waited for a CPU. If several CPUs handle frames, these
  // stamps are not in the order of the frames.
  bool stamp_on_arrival = false;
  // Use a ring of blocks (TPACKET_V3), with as many bytes as `slots` slots need. Short frames take
  // less space, but the kernel passes a block that is not full to the process only after 1 to 2 ms.
  bool blocks = false;
};

// A port on an interface, through packet sockets.
//  - Frames shorter than the minimum for the medium are not padded; frames have no FCS.
//  - VLAN tags that the kernel removed from a frame are inserted again.
//  - Frames are in the kernel's form: `checksum` and `gso_size` describe what must still be done to
//    a frame (port/super_frame.h does it).
//  - Frames that any process of this machine sends are not received (PACKET_IGNORE_OUTGOING),
//    unless RingOptions::outgoing is set.
class RingPort final : public AnyPort {
 public:
  // `socket`: AF_PACKET, SOCK_RAW, protocol 0, not bound; its creator has set the filter,
  // promiscuous mode and buffer sizes. The constructor makes the ring before it binds the socket,
  // so that no frame of another interface enters the ring. Needs no privilege. Throws SystemError.
  // `sender`: a second socket with the same properties, for sending. If `sender` is empty, `socket`
  // also sends, which is slower: for each sent frame the kernel wakes the threads that wait for the
  // socket (epoll), and reads a header before the frame (PACKET_VNET_HDR, which only receiving
  // needs).
  RingPort(UniqueFd socket, const RingOptions& options, UniqueFd sender = {});
  RingPort(RingPort&&) noexcept;
  RingPort& operator=(RingPort&&) noexcept;
  ~RingPort() override;

  // Joins a fanout group of ports on the same interface: the kernel passes each frame to one port
  // of the group, and all frames of a flow to the same port (PACKET_FANOUT_HASH). If `group` is
  // empty, creates a new group (PACKET_FANOUT_FLAG_UNIQUEID, Linux 4.12); further ports join the
  // new group by its number. A port receives every frame until it joins, so until then its socket's
  // filter should drop all frames. Returns the group. Throws SystemError.
  uint16_t JoinFanout(std::optional<uint16_t> group = std::nullopt);

  size_t Receive(std::span<ReceivedFrame> frames) override;
  size_t Transmit(std::span<const FrameToSend> frames) override;
  std::span<const uint32_t> Refused() const override;
  // Returns the bytes in flight, computed from the socket's send memory (port/flight_log.h). If
  // qdisc_bypass is set, only frames that the driver holds are in flight; otherwise the frames of
  // this port in the qdisc's backlog are also in flight. Many drivers release a frame as soon as
  // the frame is in their ring (virtio_net without NAPI for sending).
  size_t BytesInFlight() override;
  // Returns a descriptor that becomes writable when frames have left and less than half of
  // SO_SNDBUF is used (sock_wfree(), sock_def_write_space() in net/core/sock.c).
  int TransmitFd() override;
  int fd() override;
  PortCounters Counters() override;  // any thread may call it
  bool Up() override;
  uint32_t Mtu() const override;
  std::string Description() const override;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace viaduct::io
