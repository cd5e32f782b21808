#include "base/wire/transport.h"

#include <algorithm>

namespace viaduct::wire {

std::optional<UdpHeader> UdpHeader::Parse(ConstBytes bytes) {
  if (bytes.size() < kSize) return std::nullopt;
  const std::byte* const at = bytes.data();
  return UdpHeader{Load16(at), Load16(at + 2), Load16(at + 4), Load16(at + 6)};
}

size_t UdpHeader::Write(Bytes bytes) const {
  std::byte* const at = bytes.data();
  Store16(at, source_port);
  Store16(at + 2, destination_port);
  Store16(at + 4, length);
  Store16(at + 6, checksum);
  return kSize;
}

std::optional<TcpHeader> TcpHeader::Parse(ConstBytes bytes) {
  if (bytes.size() < kSize) return std::nullopt;
  const std::byte* const at = bytes.data();
  const TcpHeader header{.source_port = Load16(at),
                         .destination_port = Load16(at + 2),
                         .sequence = Load32(at + 4),
                         .acknowledgment = Load32(at + 8),
                         .header_length = static_cast<uint8_t>((Load8(at + 12) >> 4) * 4),
                         .flags = Load8(at + 13),
                         .window = Load16(at + 14),
                         .checksum = Load16(at + 16),
                         .urgent_pointer = Load16(at + 18)};
  if (header.header_length < kSize || header.header_length > bytes.size()) return std::nullopt;
  return header;
}

size_t TcpHeader::Write(Bytes bytes) const {
  std::byte* const at = bytes.data();
  std::fill_n(at, header_length, std::byte{0});
  Store16(at, source_port);
  Store16(at + 2, destination_port);
  Store32(at + 4, sequence);
  Store32(at + 8, acknowledgment);
  Store8(at + 12, static_cast<uint8_t>(header_length / 4 << 4));
  Store8(at + 13, flags);
  Store16(at + 14, window);
  Store16(at + 16, checksum);
  Store16(at + 18, urgent_pointer);
  return header_length;
}

std::optional<IcmpHeader> IcmpHeader::Parse(ConstBytes bytes) {
  if (bytes.size() < kSize) return std::nullopt;
  const std::byte* const at = bytes.data();
  return IcmpHeader{Load8(at), Load8(at + 1), Load16(at + 2), Load32(at + 4)};
}

size_t IcmpHeader::Write(Bytes bytes) const {
  std::byte* const at = bytes.data();
  Store8(at, type);
  Store8(at + 1, code);
  Store16(at + 2, checksum);
  Store32(at + 4, rest);
  return kSize;
}

}  // namespace viaduct::wire
