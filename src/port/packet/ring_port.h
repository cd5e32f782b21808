// All frames of one interface, through an AF_PACKET ring (TPACKET_V2 or V3) and sendmmsg.
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
  uint16_t ether_type = 0x0003;  // which frames; default ETH_P_ALL; host byte order
  uint32_t slots = 4096;         // frames the kernel can store between two calls of Receive()
  // Bytes a ring slot holds; longer frames (segmentation offload is on) take a slower path and
  // arrive whole. 0: the interface's MTU plus link-layer headers.
  uint32_t slot_bytes = 0;
  // Bypass the queueing discipline when sending (PACKET_QDISC_BYPASS): faster; off if the interface
  // has a qdisc that must shape what we send.
  bool qdisc_bypass = true;
  // Receive also what this machine sends on the interface, but not what bypasses the qdisc: the
  // kernel shows it to nobody.
  bool outgoing = false;
  // `received` is when the kernel's stack got the frame from the driver (SO_TIMESTAMPING), not when
  // it put it into the ring: earlier by what it waited for a processor. Stamps of frames that
  // several processors handle are then not in the order of the frames.
  bool stamp_on_arrival = false;
  // The ring is of blocks (TPACKET_V3), of as many bytes as `slots` need: short frames take less
  // room, but the kernel hands over a block that is not full only after 1 to 2 ms.
  bool blocks = false;
};

// - Frames shorter than the minimum for the medium are not padded; there is no FCS.
// - VLAN tags that the kernel removed from a frame are inserted again.
// - Frames are as in the kernel: `checksum` and `gso_size` say what remains to be done
//   (port/super_frame.h does it).
// - Frames that this machine sends are not received, whoever sends them (PACKET_IGNORE_OUTGOING),
//   unless RingOptions::outgoing.
class RingPort final : public AnyPort {
 public:
  // `socket`: AF_PACKET, SOCK_RAW, protocol 0, not bound; with filter, promiscuous mode and buffer
  // sizes set by its creator. Sets up the ring, then binds, so that no frame of another interface
  // enters. Needs no privilege. Throws SystemError.
  // `sender`: another such socket, by which frames are sent; empty: it is the same, which is
  // slower: the kernel wakes those that wait for a socket (epoll) for each frame that has been sent
  // by it, and reads a header before each frame (PACKET_VNET_HDR, which only receiving needs).
  RingPort(UniqueFd socket, const RingOptions& options, UniqueFd sender = {});
  RingPort(RingPort&&) noexcept;
  RingPort& operator=(RingPort&&) noexcept;
  ~RingPort() override;

  // Shares the interface's frames with other ports on it: each frame goes to one of the group,
  // those of a flow to the same (PACKET_FANOUT_HASH). The first one makes the group
  // (PACKET_FANOUT_FLAG_ UNIQUEID, Linux 4.12); the others name it. Until it joins, a port gets
  // every frame: so its socket's filter should let none pass before. Returns the group. Throws
  // SystemError.
  uint16_t JoinFanout(std::optional<uint16_t> group = std::nullopt);

  size_t Receive(std::span<ReceivedFrame> frames) override;
  size_t Transmit(std::span<const FrameToSend> frames) override;
  std::span<const uint32_t> Refused() const override;
  // From the socket's send memory (port/flight_log.h). With qdisc_bypass, frames are with the
  // driver only; without, a qdisc's backlog of this port counts too. Many drivers let go of a frame
  // as soon as it is in their ring (virtio_net without NAPI for sending).
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
