#include "base/wire/ethernet.h"

#include "base/wire/ip.h"

namespace viaduct::wire {
namespace {

MacAddress LoadMac(const std::byte* at) {
  MacAddress mac;
  std::memcpy(mac.bytes.data(), at, mac.bytes.size());
  return mac;
}

void StoreMac(std::byte* at, const MacAddress& mac) {
  std::memcpy(at, mac.bytes.data(), mac.bytes.size());
}

}  // namespace

MacAddress MulticastMac(const IpAddress& group) {
  const auto& b = group.bytes;
  if (group.family == Family::kIpv6) return {{0x33, 0x33, b[12], b[13], b[14], b[15]}};
  return {{0x01, 0x00, 0x5e, static_cast<uint8_t>(b[1] & 0x7f), b[2], b[3]}};
}

std::optional<EthernetHeader> EthernetHeader::Parse(ConstBytes bytes) {
  if (bytes.size() < kSize) return std::nullopt;
  const std::byte* const at = bytes.data();
  return EthernetHeader{LoadMac(at), LoadMac(at + 6), Load16(at + 12)};
}

size_t EthernetHeader::Write(Bytes bytes) const {
  StoreMac(bytes.data(), destination);
  StoreMac(bytes.data() + 6, source);
  Store16(bytes.data() + 12, type);
  return kSize;
}

std::optional<VlanTag> VlanTag::Parse(ConstBytes bytes) {
  if (bytes.size() < kSize) return std::nullopt;
  const uint16_t tci = Load16(bytes.data());
  return VlanTag{.priority = static_cast<uint8_t>(tci >> 13),
                 .drop_eligible = (tci & 0x1000) != 0,
                 .id = static_cast<uint16_t>(tci & 0x0fff),
                 .type = Load16(bytes.data() + 2)};
}

size_t VlanTag::Write(Bytes bytes) const {
  const int tci = priority << 13 | (drop_eligible ? 0x1000 : 0) | (id & 0x0fff);
  Store16(bytes.data(), static_cast<uint16_t>(tci));
  Store16(bytes.data() + 2, type);
  return kSize;
}

std::optional<MplsLabel> MplsLabel::Parse(ConstBytes bytes) {
  if (bytes.size() < kSize) return std::nullopt;
  const uint32_t word = Load32(bytes.data());
  return MplsLabel{.label = word >> 12,
                   .traffic_class = static_cast<uint8_t>(word >> 9 & 7),
                   .bottom_of_stack = (word & 0x100) != 0,
                   .ttl = static_cast<uint8_t>(word)};
}

size_t MplsLabel::Write(Bytes bytes) const {
  Store32(bytes.data(),
          label << 12 | uint32_t{traffic_class & 7u} << 9 | (bottom_of_stack ? 0x100u : 0u) | ttl);
  return kSize;
}

std::optional<ArpPacket> ArpPacket::Parse(ConstBytes bytes) {
  if (bytes.size() < kSize) return std::nullopt;
  const std::byte* const at = bytes.data();
  // Hardware type 1 (Ethernet), protocol type IPv4; address lengths 6 and 4.
  if (Load32(at) != 0x00010800 || Load16(at + 4) != 0x0604) return std::nullopt;
  return ArpPacket{.operation = Load16(at + 6),
                   .sender_mac = LoadMac(at + 8),
                   .sender_ip = LoadAddress(Family::kIpv4, at + 14),
                   .target_mac = LoadMac(at + 18),
                   .target_ip = LoadAddress(Family::kIpv4, at + 24)};
}

size_t ArpPacket::Write(Bytes bytes) const {
  std::byte* const at = bytes.data();
  Store32(at, 0x00010800);
  Store16(at + 4, 0x0604);
  Store16(at + 6, operation);
  StoreMac(at + 8, sender_mac);
  StoreAddress(at + 14, sender_ip);
  StoreMac(at + 18, target_mac);
  StoreAddress(at + 24, target_ip);
  return kSize;
}

}  // namespace viaduct::wire
