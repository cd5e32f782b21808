#include "base/wire/link_tag.h"

#include <cstring>

#include "base/wire/ethernet.h"

namespace viaduct::wire {
namespace {

constexpr size_t kMacs = 12;  // bytes of the destination and source addresses
constexpr uint32_t kVlanId = 0x0fff;
constexpr uint32_t kLabel = 0xfffff000;
constexpr uint32_t kBottomOfStack = 0x100;
constexpr uint8_t kDefaultTtl = 64;

// Returns the EtherType of the payload after the last label of an MPLS stack; 0 if it is unknown.
uint16_t TypeUnderLabel(ConstBytes payload) {
  const uint8_t first = payload.empty() ? 0 : Load8(payload.data()) >> 4;
  return first == 4 ? ether_type::kIpv4 : first == 6 ? ether_type::kIpv6 : uint16_t{0};
}

}  // namespace

LinkTag LinkTag::Vlan(uint16_t id) { return {Kind::kVlan, ether_type::kVlan, id}; }

LinkTag LinkTag::Mpls(uint32_t label) {
  return {Kind::kMpls, ether_type::kMpls, label << 12 | kDefaultTtl};
}

uint32_t LinkTag::Id() const {
  if (kind == Kind::kVlan) return word & kVlanId;
  return kind == Kind::kMpls ? word >> 12 : 0;
}

LinkTag LinkTag::Renamed(const LinkTag& other) const {
  if (kind != other.kind) return other;
  const uint32_t id = kind == Kind::kVlan ? kVlanId : kLabel;
  return {kind, type, (word & ~id) | (other.word & id)};
}

LinkTag OuterTag(ConstBytes frame) {
  if (frame.size() < EthernetHeader::kSize + LinkTag::kSize) return {};
  const std::byte* const at = frame.data() + kMacs;
  const uint16_t type = Load16(at);
  switch (type) {
    case ether_type::kVlan:
    case ether_type::kServiceVlan:
      return {LinkTag::Kind::kVlan, type, Load16(at + 2)};
    case ether_type::kMpls:
      return {LinkTag::Kind::kMpls, type, Load32(at + 2) & ~kBottomOfStack};
    default:
      return {};
  }
}

std::optional<Bytes> PopTag(Bytes frame) {
  const LinkTag tag = OuterTag(frame);
  if (tag.kind == LinkTag::Kind::kNone) return std::nullopt;
  const Bytes shorter = frame.subspan(LinkTag::kSize);
  if (tag.kind == LinkTag::Kind::kMpls) {
    const bool last = (Load32(frame.data() + EthernetHeader::kSize) & kBottomOfStack) != 0;
    const size_t payload = EthernetHeader::kSize + LinkTag::kSize;
    const uint16_t type = last ? TypeUnderLabel(frame.subspan(payload)) : ether_type::kMpls;
    if (type == 0) return std::nullopt;
    std::memmove(shorter.data(), frame.data(), kMacs);
    Store16(shorter.data() + kMacs, type);
    return shorter;
  }
  // The EtherType after a VLAN tag is already at its final place, so only the MAC addresses are
  // moved.
  std::memmove(shorter.data(), frame.data(), kMacs);
  return shorter;
}

bool CanCarry(ConstBytes frame, const LinkTag& tag) {
  if (tag.kind == LinkTag::Kind::kNone) return true;
  if (frame.size() < EthernetHeader::kSize) return false;
  if (tag.kind == LinkTag::Kind::kVlan) return true;
  const uint16_t type = Load16(frame.data() + kMacs);
  return type == ether_type::kIpv4 || type == ether_type::kIpv6 || type == ether_type::kMpls;
}

std::optional<Bytes> PushTag(Bytes frame, const LinkTag& tag) {
  if (!CanCarry(frame, tag)) return std::nullopt;
  if (tag.kind == LinkTag::Kind::kNone) return frame;
  const uint16_t type = Load16(frame.data() + kMacs);
  std::byte* const start = frame.data() - LinkTag::kSize;
  std::memmove(start, frame.data(), kMacs);
  Store16(start + kMacs, tag.type);
  if (tag.kind == LinkTag::Kind::kVlan) {
    Store16(start + kMacs + 2, static_cast<uint16_t>(tag.word));
  } else {
    Store32(start + kMacs + 2, tag.word | (type == ether_type::kMpls ? 0 : kBottomOfStack));
  }
  return Bytes(start, frame.size() + LinkTag::kSize);
}

}  // namespace viaduct::wire
