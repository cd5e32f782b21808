// The outermost tag of an Ethernet frame: an 802.1Q VLAN tag or an MPLS label (RFC 3032). Tags
// distinguish the links that share a cable; the functions remove and add a tag.
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
  uint16_t type = 0;  // the EtherType that announces the tag
  uint32_t word = 0;  // VLAN: the TCI; MPLS: the label stack entry without its bottom-of-stack bit

  // Create a tag with priority 0; an MPLS label gets the TTL that RFC 3443's short-pipe model gives
  // a tunnel's entry.
  static LinkTag Vlan(uint16_t id);
  static LinkTag Mpls(uint32_t label);
  // Returns the VLAN id or the label; 0 if there is no tag.
  uint32_t Id() const;
  // Returns this tag with the id of `other`, and with its own priority, drop eligibility and TTL;
  // returns `other` if the two tags are of different kinds.
  LinkTag Renamed(const LinkTag& other) const;
  friend bool operator==(const LinkTag&, const LinkTag&) = default;
};
static_assert(std::is_trivially_copyable_v<LinkTag>);

// Returns the outermost tag of a frame; a tag of kind kNone if the frame is untagged or too short.
LinkTag OuterTag(ConstBytes frame);

// Removes the outermost tag: moves the MAC addresses forward by kSize bytes, and leaves all other
// bytes in place. Returns nothing and changes no byte if there is no tag, or if the payload after
// the last label is neither IPv4 nor IPv6 (a label does not identify its payload; the first four
// bits of the payload do, RFC 4928).
std::optional<Bytes> PopTag(Bytes frame);

// Whether a tag can be added to a frame: the frame must be long enough, and for an MPLS label the
// frame must carry IP or MPLS.
bool CanCarry(ConstBytes frame, const LinkTag& tag);

// Adds a tag to a frame; needs kSize free bytes in memory before the frame. A tag of kind kNone
// changes nothing. Returns nothing and changes no byte if the tag cannot be added (CanCarry()).
std::optional<Bytes> PushTag(Bytes frame, const LinkTag& tag);

}  // namespace viaduct::wire
