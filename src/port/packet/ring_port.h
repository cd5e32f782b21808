// Receives all frames of one interface, through an AF_PACKET ring (TPACKET_V2 or V3), and sends
// with sendmmsg.
//
// The reason for this choice: of the ways Linux offers, a V2 receive ring with sendmmsg straight
// from the caller's memory was the fastest that keeps latency low (a V3 ring adds up to a
// millisecond, transmit rings and AF_XDP cost more per frame on veth).
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
  uint16_t ether_type = 0x0003;  // the frames to receive; default ETH_P_ALL; host byte order
  uint32_t slots = 4096;         // frames the kernel can store between two calls of Receive()
  // The capacity of a ring slot, bytes; longer frames (segmentation offload is on) take a slower
  // path and arrive whole. 0: the interface's MTU plus link-layer headers.
  uint32_t slot_bytes = 0;
  // Bypass the queueing discipline when sending (PACKET_QDISC_BYPASS): faster; off if the interface
  // has a qdisc that must shape the frames sent.
  bool qdisc_bypass = true;
  // Receive also the frames that this machine sends on the interface, except those that bypass the
  // qdisc: the kernel passes those to no socket.
  bool outgoing = false;
  // Set `received` to the time when the kernel's stack got the frame from the driver
  // (SO_TIMESTAMPING), not when it put the frame into the ring: earlier by the time that the frame
  // waited for a processor. Stamps of frames that several processors handle are then not in the
  // order of the frames.
  bool stamp_on_arrival = false;
  // Use a ring of blocks (TPACKET_V3), of as many bytes as `slots` need: short frames take less
  // space, but the kernel passes on a block that is not full only after 1 to 2 ms.
  bool blocks = false;
};

// - Frames shorter than the minimum for the medium are not padded; there is no FCS.
// - VLAN tags that the kernel removed from a frame are inserted again.
// - Frames are as in the kernel: `checksum` and `gso_size` describe what remains to be done
//   (port/super_frame.h does it).
// - Frames that any process of this machine sends are not received (PACKET_IGNORE_OUTGOING), unless
//   RingOptions::outgoing.
class RingPort final : public AnyPort {
 public:
  // `socket`: AF_PACKET, SOCK_RAW, protocol 0, not bound; with filter, promiscuous mode and buffer
  // sizes set by its creator. Sets up the ring, then binds, so that no frame of another interface
  // enters. Needs no privilege. Throws SystemError.
  // `sender`: a second such socket, for sending; empty: `socket` sends, too, which is slower: for
  // each frame sent, the kernel wakes the threads that wait for the socket (epoll), and reads a
  // header before the frame (PACKET_VNET_HDR, which only receiving needs).
  RingPort(UniqueFd socket, const RingOptions& options, UniqueFd sender = {});
  RingPort(RingPort&&) noexcept;
  RingPort& operator=(RingPort&&) noexcept;
  ~RingPort() override;

  // Shares the interface's frames with other ports on it: each frame goes to one port of the group,
  // those of a flow to the same port (PACKET_FANOUT_HASH). The first port makes the group
  // (PACKET_FANOUT_FLAG_UNIQUEID, Linux 4.12); further ports name it. Until it joins, a port gets
  // every frame: so its socket's filter should let none pass before. Returns the group. Throws
  // SystemError.
  uint16_t JoinFanout(std::optional<uint16_t> group = std::nullopt);

  size_t Receive(std::span<ReceivedFrame> frames) override;
  size_t Transmit(std::span<const FrameToSend> frames) override;
  std::span<const uint32_t> Refused() const override;
  // Computed from the socket's send memory (port/flight_log.h). With qdisc_bypass, frames are with
  // the driver only; without it, a qdisc's backlog of this port counts too. Many drivers release a
  // frame as soon as it is in their ring (virtio_net without NAPI for sending).
  size_t BytesInFlight() override;
  // Becomes writable when frames have left and less than half of SO_SNDBUF is used (sock_wfree(),
  // sock_def_write_space() in net/core/sock.c).
  int TransmitFd() override;
  int fd() override;
  PortCounters Counters() override;  // any thread
  bool Up() override;
  uint32_t Mtu() const override;
  std::string Description() const override;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace viaduct::io
