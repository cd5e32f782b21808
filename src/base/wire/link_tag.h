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
  static constexpr size_t kSize = 4;  // bytes of a tag of either kind
  Kind kind = Kind::kNone;
  uint16_t type = 0;  // the EtherType before the tag
  uint32_t word = 0;  // VLAN: the TCI; MPLS: the label stack entry without its bottom-of-stack bit

  // Create a tag with priority 0; for MPLS with the TTL that RFC 3443's short-pipe model gives a
  // tunnel's entry.
  static LinkTag Vlan(uint16_t id);
  static LinkTag Mpls(uint32_t label);
  // Returns the VLAN id or the label; 0 if there is no tag.
  uint32_t Id() const;
  // Returns this tag with the id of `other`. Keeps priority, drop eligibility and TTL if both tags
  // are of the same kind.
  LinkTag Renamed(const LinkTag& other) const;
  friend bool operator==(const LinkTag&, const LinkTag&) = default;
};
static_assert(std::is_trivially_copyable_v<LinkTag>);

// Returns the outermost tag of a frame; kNone for an untagged or too short frame.
LinkTag OuterTag(ConstBytes frame);

// Removes the outermost tag: the MAC addresses move kSize bytes forward, the rest stays in place.
// Returns nothing and changes no byte if there is no tag, or if the last label of a stack covers
// neither IPv4 nor IPv6 (a label does not identify its payload; the first four bits do, RFC 4928).
std::optional<Bytes> PopTag(Bytes frame);

// Whether the tag can be added to the frame: the frame must be long enough, and for an MPLS label
// it must carry IP or MPLS.
bool CanCarry(ConstBytes frame, const LinkTag& tag);

// Adds a tag; needs kSize free bytes before the frame. kNone changes nothing. Returns nothing and
// changes no byte if the frame cannot carry the tag.
std::optional<Bytes> PushTag(Bytes frame, const LinkTag& tag);

}  // namespace viaduct::wire
