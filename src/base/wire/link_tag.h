// The outermost tag of an Ethernet frame, an 802.1Q VLAN tag or an MPLS label (RFC 3032), which
// distinguishes links that share a cable: removing and adding it.
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>

#include "base/wire/bytes.h"

namespace viaduct::wire {

struct LinkTag {
  enum class Kind : uint8_t { kNone, kVlan, kMpls };
  static constexpr size_t kSize = 4;  // what either kind adds to a frame
  Kind kind = Kind::kNone;
  uint16_t type = 0;  // the EtherType that announces it
  uint32_t word = 0;  // VLAN: the TCI; MPLS: the label stack entry without its bottom-of-stack bit

  // Priority 0; for MPLS the TTL that RFC 3443's short-pipe model gives a tunnel's entry.
  static LinkTag Vlan(uint16_t id);
  static LinkTag Mpls(uint32_t label);
  // The VLAN id or the label; 0 when there is none.
  uint32_t Id() const;
  // This tag with the id of `other`. Priority, drop eligibility and TTL are kept if both are of the
  // same kind.
  LinkTag Renamed(const LinkTag& other) const;
  friend bool operator==(const LinkTag&, const LinkTag&) = default;
};
static_assert(std::is_trivially_copyable_v<LinkTag>);

// The outermost tag of a frame; kNone for an untagged or too short one.
LinkTag OuterTag(ConstBytes frame);

// Removes the outermost tag: the MAC addresses move kSize bytes forward, the rest stays in place.
// Returns nothing and changes no byte when there is no tag, or when the last label of a stack
// covers neither IPv4 nor IPv6 (a label does not say what it covers; the first four bits do, RFC
// 4928).
std::optional<Bytes> PopTag(Bytes frame);

// Whether the tag can be added to the frame: not if the frame is too short; an MPLS label only if
// it carries IP or MPLS.
bool CanCarry(ConstBytes frame, const LinkTag& tag);

// Adds a tag; needs kSize bytes of room before the frame. kNone changes nothing. Returns nothing
// and changes no byte when the frame cannot carry it.
std::optional<Bytes> PushTag(Bytes frame, const LinkTag& tag);

}  // namespace viaduct::wire
