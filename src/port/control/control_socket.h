// One kernel socket of a control port: its options, and the conversion between its messages and
// Ethernet frames.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <vector>

#include "base/fd.h"
#include "base/wire/layers.h"
#include "port/control/control_frames.h"
#include "port/control/control_port.h"

namespace viaduct::io {

// The number of a kRawIp claim for IP packets that no other socket can send unchanged: fragments,
// and IPv6 packets with extension headers. Its socket sends packets with their headers unchanged,
// and receives none (raw(7): IPPROTO_RAW).
inline constexpr uint16_t kWholePackets = IPPROTO_RAW;

class ControlSocket {
 public:
  // Sets the socket options that the claim needs. Throws SystemError, or Error if the socket is
  // bound to another interface.
  ControlSocket(const ControlClaim& claim, UniqueFd socket, const ControlOptions& options);

  int fd() const { return socket_.get(); }
  const ControlClaim& claim() const { return claim_; }

  // Joins a multicast group on the interface, if it has not been joined yet. Does nothing for
  // groups of another address family and for non-IP sockets. Returns 0 or errno.
  int Join(const wire::IpAddress& group);

  // Returns the frame for a received message, whose payload is at memory[kHeaderRoom...); returns
  // no bytes if the message is an echo of a frame that this socket sent. Adds to `overflows` the
  // number of packets that the kernel reports as dropped.
  wire::Bytes FrameOf(const msghdr& message, size_t size, wire::Bytes memory, uint64_t& overflows);

  // Sends the payload of a frame with the values in the frame's headers. `layers`: the frame's
  // layers; used by IP sockets only. Returns 0 or errno.
  int Send(FrameToSend frame, const wire::IpLayers& layers);

 private:
  struct Metadata;
  void Restrict(int ifindex);
  void PrepareIpv4();
  void PrepareIpv6();
  Metadata ReadMetadata(const msghdr& message) const;
  int SendUdp(FrameToSend frame, const wire::IpLayers& layers);
  int SendRaw(FrameToSend frame, const wire::IpLayers& layers);
  int SendPacket(wire::ConstBytes packet, const wire::IpAddress& destination);
  int SendLink(FrameToSend frame);
  int SendWithInfo(wire::ConstBytes payload, FrameToSend frame, const wire::IpLayers& layers,
                   uint16_t port);

  ControlClaim claim_;
  UniqueFd socket_;
  ControlOptions options_;
  std::vector<wire::IpAddress> joined_;
  std::vector<wire::MacAddress> joined_macs_;
  uint32_t overflows_ = 0;  // the number of drops that the kernel reported last
  uint16_t next_id_ = 1;
};

}  // namespace viaduct::io
