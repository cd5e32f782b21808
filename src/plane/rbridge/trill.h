// Formats of TRILL's data frames (RFC 6325 section 3) and the addresses of its protocols. WMRP has
// the same formats and addresses (docs/wmrp.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/wire/address.h"
#include "base/wire/bytes.h"

namespace viaduct::rbridge {

inline constexpr uint16_t kTrillType = 0x22f3;  // EtherType of encapsulated frames
inline constexpr uint16_t kIsIsType = 0x22f4;   // EtherType of routing PDUs (L2-IS-IS)

inline constexpr wire::MacAddress kAllRBridges{{0x01, 0x80, 0xc2, 0x00, 0x00, 0x40}};
inline constexpr wire::MacAddress kAllIsIsRBridges{{0x01, 0x80, 0xc2, 0x00, 0x00, 0x41}};

// Returns whether frames to the address must never leave their link: IEEE 802.1Q's bridge group
// addresses (01:80:c2:00:00:00 to 0f) and TRILL's own addresses (40 to 4f).
bool IsLinkLocal(const wire::MacAddress& mac);

// The identifier of an RBridge in data frames. The type is a plain integer, because a strong type
// would need many casts in tables that are arrays of nicknames.
using Nickname = uint16_t;
inline constexpr Nickname kNoNickname = 0;  // nickname 0: unknown
// Returns whether the nickname is not reserved: 0, and 0xffc0 and above, are reserved (RFC 6325
// section 3.7).
constexpr bool IsUsable(Nickname nickname) { return nickname != 0 && nickname < 0xffc0; }

// The TRILL header (RFC 6325 section 3.1), without the Ethernet header before it and the options
// behind it.
struct TrillHeader {
  static constexpr size_t kSize = 6;
  static constexpr int kMaxHops = 63;
  bool multi_destination = false;
  uint8_t options = 0;            // length of the options behind the header, 4-byte words; 0..31
  uint8_t hop_count = 0;          // 0..63
  Nickname egress = kNoNickname;  // egress RBridge; the tree's root if multi_destination
  Nickname ingress = kNoNickname;

  // Parses a header; returns nothing for a version other than 0. Ignores reserved bits.
  static std::optional<TrillHeader> Parse(wire::ConstBytes bytes);
  size_t Write(wire::Bytes bytes) const;
  friend bool operator==(const TrillHeader&, const TrillHeader&) = default;
};

// The number of bytes by which encapsulation increases an untagged frame's payload: Ethernet and
// TRILL header, and the VLAN tag that the inner frame always has (RFC 6325 section 4.1.1).
inline constexpr int kOverhead = 14 + 6 + 4;  // bytes

}  // namespace viaduct::rbridge
