#include "base/wire/ip.h"

#include <algorithm>

#include "base/wire/checksum.h"

namespace viaduct::wire {

IpAddress LoadAddress(Family family, const std::byte* at) {
  IpAddress address{family, {}};
  std::memcpy(address.bytes.data(), at, static_cast<size_t>(address.Length()));
  return address;
}

void StoreAddress(std::byte* at, const IpAddress& address) {
  std::memcpy(at, address.bytes.data(), static_cast<size_t>(address.Length()));
}

std::optional<Ipv4Header> Ipv4Header::Parse(ConstBytes bytes) {
  if (bytes.size() < kSize) return std::nullopt;
  const std::byte* const at = bytes.data();
  const uint8_t first = Load8(at);
  const uint16_t fragment = Load16(at + 6);
  const Ipv4Header header{.header_length = static_cast<uint8_t>((first & 0x0f) * 4),
                          .tos = Load8(at + 1),
                          .total_length = Load16(at + 2),
                          .id = Load16(at + 4),
                          .dont_fragment = (fragment & 0x4000) != 0,
                          .more_fragments = (fragment & 0x2000) != 0,
                          .fragment_offset = static_cast<uint16_t>(fragment & 0x1fff),
                          .ttl = Load8(at + 8),
                          .protocol = Load8(at + 9),
                          .checksum = Load16(at + 10),
                          .source = LoadAddress(Family::kIpv4, at + 12),
                          .destination = LoadAddress(Family::kIpv4, at + 16)};
  if (first >> 4 != 4 || header.header_length < kSize || header.header_length > bytes.size()) {
    return std::nullopt;
  }
  if (header.total_length != 0 && header.total_length < header.header_length) return std::nullopt;
  return header;
}

size_t Ipv4Header::Write(Bytes bytes) const {
  std::byte* const at = bytes.data();
  std::fill_n(at, header_length, std::byte{0});
  Store8(at, static_cast<uint8_t>(4 << 4 | header_length / 4));
  Store8(at + 1, tos);
  Store16(at + 2, total_length);
  Store16(at + 4, id);
  Store16(at + 6, static_cast<uint16_t>((dont_fragment ? 0x4000 : 0) |
                                        (more_fragments ? 0x2000 : 0) | fragment_offset));
  Store8(at + 8, ttl);
  Store8(at + 9, protocol);
  StoreAddress(at + 12, source);
  StoreAddress(at + 16, destination);
  SetIpv4Checksum(bytes);
  return header_length;
}

void SetIpv4Checksum(Bytes bytes) {
  const size_t length = (Load8(bytes.data()) & 0x0fu) * 4;
  Store16(bytes.data() + 10, 0);
  Store16(bytes.data() + 10, InternetChecksum(bytes.first(length)));
}

std::optional<Ipv6Header> Ipv6Header::Parse(ConstBytes bytes) {
  if (bytes.size() < kSize) return std::nullopt;
  const std::byte* const at = bytes.data();
  const uint32_t first = Load32(at);
  if (first >> 28 != 6) return std::nullopt;
  return Ipv6Header{.traffic_class = static_cast<uint8_t>(first >> 20),
                    .flow_label = first & 0xfffff,
                    .payload_length = Load16(at + 4),
                    .next_header = Load8(at + 6),
                    .hop_limit = Load8(at + 7),
                    .source = LoadAddress(Family::kIpv6, at + 8),
                    .destination = LoadAddress(Family::kIpv6, at + 24)};
}

size_t Ipv6Header::Write(Bytes bytes) const {
  std::byte* const at = bytes.data();
  Store32(at, 6u << 28 | uint32_t{traffic_class} << 20 | (flow_label & 0xfffff));
  Store16(at + 4, payload_length);
  Store8(at + 6, next_header);
  Store8(at + 7, hop_limit);
  StoreAddress(at + 8, source);
  StoreAddress(at + 24, destination);
  return kSize;
}

}  // namespace viaduct::wire
