#include "remote/tunnel/inner_frame.h"

#include <netinet/in.h>

#include <optional>

#include "base/wire/checksum.h"
#include "base/wire/layers.h"
#include "base/wire/transport.h"
#include "base/wire/vxlan.h"

namespace viaduct::tunnel {
namespace {

using wire::IpLayers;

// Returns the offset of the checksum in the transport header.
std::optional<size_t> ChecksumOffset(const IpLayers& layers) {
  if (layers.fragment) return std::nullopt;
  const size_t length = layers.end - layers.transport;
  if (layers.protocol == IPPROTO_TCP && length >= wire::TcpHeader::kSize) {
    return wire::TcpHeader::kChecksumOffset;
  }
  if (layers.protocol == IPPROTO_UDP && length >= wire::UdpHeader::kSize) {
    return wire::UdpHeader::kChecksumOffset;
  }
  return std::nullopt;
}

bool IsPartial(wire::ConstBytes frame, const IpLayers& layers, size_t offset) {
  const auto segment = frame.subspan(layers.transport, layers.end - layers.transport);
  const wire::IpAddress source = layers.Source(frame), destination = layers.Destination(frame);
  const uint32_t sum = wire::PseudoHeaderSum(source, destination, layers.protocol,
                                             static_cast<uint32_t>(segment.size()));
  const auto folded = static_cast<uint16_t>(~wire::FinishChecksum(sum));
  return wire::Load16(segment.data() + offset) == folded &&
         !wire::TransportChecksumIsRight(source, destination, layers.protocol, segment);
}

}  // namespace

io::ReceivedFrame DescribeInnerFrame(wire::Bytes frame, size_t segment, Instant received) {
  io::ReceivedFrame described{.bytes = frame, .received = received};
  described.gso_size = static_cast<uint16_t>(segment);
  const auto layers = wire::FindIpLayers(frame);
  if (!layers) return described;
  const auto offset = ChecksumOffset(*layers);
  if (offset && (segment > 0 || IsPartial(frame, *layers, *offset))) {
    described.checksum = io::Checksum::kPartial;
    described.checksum_start = static_cast<uint16_t>(layers->transport);
    described.checksum_offset = static_cast<uint16_t>(*offset);
  }
  return described;
}

bool IsSuperFrame(wire::ConstBytes frame, size_t segment) {
  const auto layers = wire::FindIpLayers(frame);
  return layers && layers->end + wire::VxlanHeader::kSize > segment;
}

size_t SegmentOfTcp(wire::ConstBytes frame, size_t max_frame) {
  const auto layers = wire::FindIpLayers(frame);
  if (!layers || layers->fragment || layers->protocol != IPPROTO_TCP) return 0;
  const auto tcp = wire::TcpHeader::Parse(frame.subspan(layers->transport));
  const size_t headers = layers->transport + (tcp ? tcp->header_length : 0);
  return tcp && headers < max_frame ? max_frame - headers : 0;
}

}  // namespace viaduct::tunnel
