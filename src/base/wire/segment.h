// Software segmentation of TSO, GRO and UDP GSO super-frames.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/wire/bytes.h"
#include "base/wire/layers.h"

namespace viaduct::wire {

// Cuts one TCP or UDP super-frame (IPv4 or IPv6, VLAN tags kept) into the frames that a NIC would
// have sent, one at a time. Each frame has a payload of `gso_size` bytes (the last frame: the
// remaining bytes), its own lengths, complete checksums, and
//  - IPv4: an identification that counts up from that of the super-frame;
//  - TCP: a sequence number that counts up; FIN and PSH on the last frame only, CWR on the first
//    frame only (RFC 3168 section 6.1.2; tcp_offload.c, tcp_gso_segment());
//  - UDP: a separate header (udp_offload.c, __udp_gso_segment()); a checksum of zero over IPv4
//    stays zero unless it is partial.
// The frames of a super-frame inside a tunnel (UDP: VXLAN, Geneve; GRE; IP in IP) are inside the
// tunnel, too: the outer headers get separate lengths, identification and checksums, as the kernel
// does (udp_offload.c, __skb_udp_tunnel_segment(); gre_offload.c, gre_gso_segment()). The
// super-frame must not change until the last frame is cut.
class Segmenter {
 public:
  // Returns nothing if the super-frame has no TCP or UDP layer over IP, if it is a fragment, or if
  // gso_size is 0. `partial_checksum`: whether the checksum field holds a pseudo-header sum.
  // `checksum_start`: the offset of the transport header with that field, from which a tunnel is
  // recognized; 0 if it is not known: the frame is then assumed to be in no tunnel.
  static std::optional<Segmenter> Begin(ConstBytes super_frame, uint16_t gso_size,
                                        bool partial_checksum, size_t checksum_start = 0);

  size_t HeaderBytes() const { return payload_start_; }
  // Returns the layers that are cut: the layers inside the tunnel, if there is a tunnel.
  const IpLayers& layers() const { return layers_; }
  bool Finished() const { return finished_; }
  // Writes the next frame to the start of `memory` and returns the frame's bytes, or an empty span
  // if the frame does not fit. Must not be called when Finished() is true.
  Bytes Next(Bytes memory);

 private:
  Segmenter() = default;
  bool EnterTunnel(size_t checksum_start);
  void SetLengths(Bytes frame, const IpLayers& layers) const;
  void SetTransport(Bytes frame, bool last) const;
  void SetTunnel(Bytes frame) const;

  ConstBytes super_frame_;
  IpLayers layers_;
  std::optional<IpLayers> tunnel_;  // the outer layers, if there is a tunnel
  size_t payload_start_ = 0;
  size_t gso_size_ = 0;
  bool with_checksum_ = true;
  bool finished_ = false;
  size_t done_ = 0;     // payload bytes in the frames cut so far
  uint16_t index_ = 0;  // number of frames cut so far
};

}  // namespace viaduct::wire
