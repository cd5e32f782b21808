#include "base/wire/segment.h"

#include <algorithm>

#include "base/wire/checksum.h"
#include "base/wire/ip.h"
#include "base/wire/transport.h"

namespace viaduct::wire {
namespace {

constexpr size_t kTcpSequence = 4;
constexpr size_t kTcpFlags = 13;
constexpr size_t kIpv4TotalLength = 2;
constexpr size_t kIpv4Id = 4;
constexpr size_t kIpv6PayloadLength = 4;
constexpr size_t kUdpLength = 4;
// The flags in the first word of a GRE header, and the offset of its checksum (RFC 2784, 2890).
constexpr uint16_t kGreHasChecksum = 0x8000;
constexpr uint16_t kGreHasSequence = 0x1000;
constexpr size_t kGreChecksum = 4;
constexpr size_t kGreMinimum = 4;
constexpr size_t kMaxIpv4Header = 60;

bool IsAround(const IpLayers& inner, size_t header, size_t end) {
  return inner.transport == header && inner.end == end && !inner.fragment &&
         (inner.protocol == ip_protocol::kTcp || inner.protocol == ip_protocol::kUdp);
}

// Returns the layers of the inner IP header of a tunnel, which ends at `transport`. The tunnel
// header before it cannot be recognized in general (any UDP port may be the port of VXLAN), so the
// inner IP header is the one whose lengths and, for IPv4, checksum match.
std::optional<IpLayers> FindIpBefore(ConstBytes frame, const IpLayers& outer, size_t transport) {
  if (transport > outer.end) return std::nullopt;
  const size_t room = transport - outer.transport;
  for (size_t header = Ipv4Header::kSize; header <= std::min(room, kMaxIpv4Header); header += 4) {
    const size_t start = transport - header;
    const auto layers = FindIpLayersInPacket(frame.subspan(start, outer.end - start));
    if (layers && layers->family == Family::kIpv4 && IsAround(*layers, header, outer.end - start) &&
        InternetChecksum(frame.subspan(start, header)) == 0) {
      return IpLayers{.family = layers->family,
                      .network = start,
                      .transport = transport,
                      .end = outer.end,
                      .protocol = layers->protocol};
    }
  }
  for (size_t header = Ipv6Header::kSize; header <= room; header += 8) {
    const size_t start = transport - header;
    const auto layers = FindIpLayersInPacket(frame.subspan(start, outer.end - start));
    if (layers && layers->family == Family::kIpv6 && IsAround(*layers, header, outer.end - start)) {
      return IpLayers{.family = layers->family,
                      .network = start,
                      .transport = transport,
                      .end = outer.end,
                      .protocol = layers->protocol,
                      .extension_headers = layers->extension_headers};
    }
  }
  return std::nullopt;
}

}  // namespace

// Whether the outer layers are a tunnel whose headers can be repeated before each segment. If so,
// sets layers_ to the layers inside the tunnel.
bool Segmenter::EnterTunnel(size_t checksum_start) {
  tunnel_ = layers_;
  const auto inner = FindIpBefore(super_frame_, *tunnel_, checksum_start);
  if (!inner) return false;
  layers_ = *inner;
  const size_t header = inner->network - tunnel_->transport;
  switch (tunnel_->protocol) {
    case ip_protocol::kIpv4:
    case ip_protocol::kIpv6:
      return header == 0;
    case ip_protocol::kUdp:
      return header >= UdpHeader::kSize;
    case ip_protocol::kGre: {
      if (header < kGreMinimum) return false;
      const uint16_t flags = Load16(super_frame_.data() + tunnel_->transport);
      return (flags & kGreHasSequence) == 0 &&
             ((flags & kGreHasChecksum) == 0 || header >= kGreChecksum + 4);
    }
    default:
      return false;
  }
}

std::optional<Segmenter> Segmenter::Begin(ConstBytes super_frame, uint16_t gso_size,
                                          bool partial_checksum, size_t checksum_start) {
  const auto layers = FindIpLayers(super_frame);
  if (!layers || layers->fragment || gso_size == 0) return std::nullopt;
  Segmenter segmenter;
  segmenter.super_frame_ = super_frame;
  segmenter.layers_ = *layers;
  segmenter.gso_size_ = gso_size;
  if (checksum_start > layers->transport && !segmenter.EnterTunnel(checksum_start)) {
    return std::nullopt;
  }
  const size_t outermost = layers->network;
  const IpLayers& cut = segmenter.layers_;
  const ConstBytes segment = super_frame.subspan(cut.transport, cut.end - cut.transport);
  if (cut.protocol == ip_protocol::kTcp) {
    const auto tcp = TcpHeader::Parse(segment);
    if (!tcp) return std::nullopt;
    segmenter.payload_start_ = cut.transport + tcp->header_length;
  } else if (cut.protocol == ip_protocol::kUdp) {
    const auto udp = UdpHeader::Parse(segment);
    if (!udp) return std::nullopt;
    segmenter.payload_start_ = cut.transport + UdpHeader::kSize;
    segmenter.with_checksum_ = partial_checksum || udp->checksum != 0;
  } else {
    return std::nullopt;
  }
  if (segmenter.payload_start_ - outermost + gso_size > 0xffff) return std::nullopt;
  return segmenter;
}

Bytes Segmenter::Next(Bytes memory) {
  const size_t left = layers_.end - payload_start_ - done_;
  const size_t payload = std::min(left, gso_size_);
  if (memory.size() < payload_start_ + payload) return {};
  const Bytes frame = memory.first(payload_start_ + payload);
  std::memcpy(frame.data(), super_frame_.data(), payload_start_);
  std::memcpy(frame.data() + payload_start_, super_frame_.data() + payload_start_ + done_, payload);
  finished_ = payload == left;
  SetLengths(frame, layers_);
  SetTransport(frame, finished_);
  if (tunnel_) SetTunnel(frame);
  done_ += payload;
  ++index_;
  return frame;
}

void Segmenter::SetLengths(Bytes frame, const IpLayers& layers) const {
  std::byte* const ip = frame.data() + layers.network;
  const auto length = static_cast<uint16_t>(frame.size() - layers.network);
  if (layers.family == Family::kIpv6) {
    Store16(ip + kIpv6PayloadLength, static_cast<uint16_t>(length - Ipv6Header::kSize));
    return;
  }
  Store16(ip + kIpv4TotalLength, length);
  Store16(ip + kIpv4Id, static_cast<uint16_t>(Load16(ip + kIpv4Id) + index_));
  SetIpv4Checksum(frame.subspan(layers.network));
}

void Segmenter::SetTransport(Bytes frame, bool last) const {
  const Bytes segment = frame.subspan(layers_.transport);
  std::byte* const at = segment.data();
  size_t checksum_offset = UdpHeader::kChecksumOffset;
  if (layers_.protocol == ip_protocol::kTcp) {
    checksum_offset = TcpHeader::kChecksumOffset;
    Store32(at + kTcpSequence, Load32(at + kTcpSequence) + static_cast<uint32_t>(done_));
    uint8_t flags = Load8(at + kTcpFlags);
    if (!last) flags &= static_cast<uint8_t>(~(tcp_flag::kFin | tcp_flag::kPsh));
    if (index_ != 0) flags &= static_cast<uint8_t>(~tcp_flag::kCwr);
    Store8(at + kTcpFlags, flags);
  } else {
    Store16(at + kUdpLength, static_cast<uint16_t>(segment.size()));
  }
  Store16(at + checksum_offset, 0);
  if (!with_checksum_) return;
  Store16(at + checksum_offset, TransportChecksum(layers_.Source(frame), layers_.Destination(frame),
                                                  layers_.protocol, segment));
}

// Sets the tunnel headers of a segment. Must be called after the inner headers are set, because the
// tunnel's checksum covers them.
void Segmenter::SetTunnel(Bytes frame) const {
  SetLengths(frame, *tunnel_);
  const Bytes segment = frame.subspan(tunnel_->transport);
  std::byte* const at = segment.data();
  if (tunnel_->protocol == ip_protocol::kUdp) {
    Store16(at + kUdpLength, static_cast<uint16_t>(segment.size()));
    // RFC 768, 6935: a checksum of 0 means that there is no checksum.
    if (Load16(at + UdpHeader::kChecksumOffset) == 0) return;
    Store16(at + UdpHeader::kChecksumOffset, 0);
    Store16(at + UdpHeader::kChecksumOffset,
            TransportChecksum(tunnel_->Source(frame), tunnel_->Destination(frame),
                              ip_protocol::kUdp, segment));
  } else if (tunnel_->protocol == ip_protocol::kGre && (Load16(at) & kGreHasChecksum) != 0) {
    Store16(at + kGreChecksum, 0);
    Store16(at + kGreChecksum, InternetChecksum(segment));
  }
}

}  // namespace viaduct::wire
