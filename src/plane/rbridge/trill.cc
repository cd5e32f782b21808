#include "plane/rbridge/trill.h"

namespace viaduct::rbridge {

using wire::Load16, wire::Store16;

bool IsLinkLocal(const wire::MacAddress& mac) {
  const auto& b = mac.bytes;
  return b[0] == 0x01 && b[1] == 0x80 && b[2] == 0xc2 && b[3] == 0 && b[4] == 0 &&
         ((b[5] & 0xf0) == 0 || (b[5] & 0xf0) == 0x40);
}

std::optional<TrillHeader> TrillHeader::Parse(wire::ConstBytes bytes) {
  if (bytes.size() < kSize) return std::nullopt;
  const uint16_t first = Load16(bytes.data());
  if (first >> 14 != 0) return std::nullopt;
  return TrillHeader{.multi_destination = (first & 0x0800) != 0,
                     .options = static_cast<uint8_t>(first >> 6 & 0x1f),
                     .hop_count = static_cast<uint8_t>(first & 0x3f),
                     .egress = Load16(bytes.data() + 2),
                     .ingress = Load16(bytes.data() + 4)};
}

size_t TrillHeader::Write(wire::Bytes bytes) const {
  const int first = (multi_destination ? 0x0800 : 0) | (options & 0x1f) << 6 | (hop_count & 0x3f);
  Store16(bytes.data(), static_cast<uint16_t>(first));
  Store16(bytes.data() + 2, egress);
  Store16(bytes.data() + 4, ingress);
  return kSize;
}

}  // namespace viaduct::rbridge
