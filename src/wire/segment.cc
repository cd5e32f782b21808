#include "wire/segment.h"

#include <algorithm>

#include "wire/checksum.h"
#include "wire/ip.h"
#include "wire/transport.h"

namespace viaduct::wire {
namespace {

constexpr size_t kTcpSequence = 4;
constexpr size_t kTcpFlags = 13;
constexpr size_t kIpv4TotalLength = 2;
constexpr size_t kIpv4Id = 4;
constexpr size_t kIpv6PayloadLength = 4;
constexpr size_t kUdpLength = 4;

}  // namespace

std::optional<Segmenter> Segmenter::Begin(ConstBytes super_frame, uint16_t gso_size,
                                          bool partial_checksum) {
  const auto layers = FindIpLayers(super_frame);
  if (!layers || layers->fragment || gso_size == 0) return std::nullopt;
  Segmenter segmenter;
  segmenter.super_frame_ = super_frame;
  segmenter.layers_ = *layers;
  segmenter.gso_size_ = gso_size;
  const ConstBytes segment =
      super_frame.subspan(layers->transport, layers->end - layers->transport);
  if (layers->protocol == ip_protocol::kTcp) {
    const auto tcp = TcpHeader::Parse(segment);
    if (!tcp) return std::nullopt;
    segmenter.payload_start_ = layers->transport + tcp->header_length;
  } else if (layers->protocol == ip_protocol::kUdp) {
    const auto udp = UdpHeader::Parse(segment);
    if (!udp) return std::nullopt;
    segmenter.payload_start_ = layers->transport + UdpHeader::kSize;
    segmenter.with_checksum_ = partial_checksum || udp->checksum != 0;
  } else {
    return std::nullopt;
  }
  if (segmenter.payload_start_ - layers->network + gso_size > 0xffff) return std::nullopt;
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
  SetLengths(frame);
  SetTransport(frame, finished_);
  done_ += payload;
  ++index_;
  return frame;
}

void Segmenter::SetLengths(Bytes frame) const {
  std::byte* const ip = frame.data() + layers_.network;
  const auto length = static_cast<uint16_t>(frame.size() - layers_.network);
  if (layers_.family == Family::kIpv6) {
    Store16(ip + kIpv6PayloadLength, static_cast<uint16_t>(length - Ipv6Header::kSize));
    return;
  }
  Store16(ip + kIpv4TotalLength, length);
  Store16(ip + kIpv4Id, static_cast<uint16_t>(Load16(ip + kIpv4Id) + index_));
  SetIpv4Checksum(frame.subspan(layers_.network));
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

}  // namespace viaduct::wire
