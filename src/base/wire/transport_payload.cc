#include "base/wire/transport_payload.h"

#include "base/wire/checksum.h"
#include "base/wire/ip.h"
#include "base/wire/layers.h"
#include "base/wire/transport.h"

namespace viaduct::wire {
namespace {

// Returns the 16-bit word at `at`, as a checksum counts it: an odd last byte is the high half of a
// word.
uint16_t WordAt(ConstBytes frame, size_t at, size_t end) {
  if (at + 1 < end) return Load16(frame.data() + at);
  return static_cast<uint16_t>(Load8(frame.data() + at) << 8);
}

}  // namespace

std::optional<TransportPayload> FindTransportPayload(ConstBytes frame) {
  const auto layers = FindIpLayers(frame);
  if (!layers || layers->fragment || layers->transport > layers->end) return std::nullopt;
  const ConstBytes segment = frame.subspan(layers->transport, layers->end - layers->transport);
  TransportPayload payload{.transport = layers->transport, .end = layers->end};
  if (layers->protocol == ip_protocol::kUdp) {
    const auto header = UdpHeader::Parse(segment);
    if (!header || header->length > segment.size()) return std::nullopt;
    payload.begin = payload.transport + UdpHeader::kSize;
    payload.end = payload.transport + header->length;
    payload.checksum = payload.transport + UdpHeader::kChecksumOffset;
    payload.zero_means_none = true;
  } else if (layers->protocol == ip_protocol::kTcp) {
    const auto header = TcpHeader::Parse(segment);
    if (!header) return std::nullopt;
    payload.begin = payload.transport + header->header_length;
    payload.checksum = payload.transport + TcpHeader::kChecksumOffset;
  } else {
    return std::nullopt;
  }
  if (payload.begin >= payload.end) return std::nullopt;
  return payload;
}

void FlipPayloadBit(Bytes frame, const TransportPayload& payload, size_t bit) {
  const size_t at = payload.begin + bit / 8;
  // The words of the checksum are counted from the transport header, whose size is even.
  const size_t word = at - (at - payload.transport) % 2;
  const uint16_t before = WordAt(frame, word, payload.end);
  frame[at] ^= std::byte{1} << (bit % 8);
  std::byte* const field = frame.data() + payload.checksum;
  const uint16_t checksum = Load16(field);
  if (payload.zero_means_none && checksum == 0) return;
  const uint16_t updated = UpdateChecksum(checksum, before, WordAt(frame, word, payload.end));
  Store16(field, payload.zero_means_none && updated == 0 ? 0xffff : updated);
}

}  // namespace viaduct::wire
