// The PDUs of an RBridge's control plane: IS-IS level 1 on broadcast links (ISO 10589), as TRILL
// uses it (RFC 6325 section 4.2, RFC 7176, RFC 7177), from the byte after the EtherType on.
//
// Parse() returns nothing for bytes that are too short, malformed, or of another type of PDU; bytes
// after a PDU are ignored as padding.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/wire/address.h"
#include "base/wire/bytes.h"
#include "plane/rbridge/trill.h"

namespace viaduct::rbridge {

using Octets = std::vector<std::byte>;

// The maximum length of a PDU that every link can carry: the minimum of TRILL's Sz (RFC 6325
// section 4.3.1).
inline constexpr size_t kMaxPdu = 1470;  // bytes

// The IS-IS identifier of an RBridge: one of its MAC addresses.
struct SystemId {
  std::array<uint8_t, 6> bytes{};
  std::string ToString() const;  // for example "0200.0000.0001"
  friend auto operator<=>(const SystemId&, const SystemId&) = default;
};

enum class PduType : uint8_t {
  kHello = 15,
  kLsp = 18,
  kCompleteNumbers = 24,
  kPartialNumbers = 26
};
// Returns the type of a PDU with a valid common header; nothing if an RBridge does not understand
// the type.
std::optional<PduType> TypeOf(wire::ConstBytes pdu);

// TRILL Hello: a level 1 LAN Hello with the TLVs Area Addresses, Protocols Supported,
// MT-Port-Capability (Special VLANs and Flags) and TRILL Neighbor.
struct Hello {
  SystemId source;
  uint16_t holding_time = 0;  // seconds
  uint8_t priority = 64;      // priority to become the link's designated RBridge, 0..127
  SystemId designated;        // the link's designated RBridge according to the sender
  uint16_t port = 0;          // the sender's port number
  Nickname nickname = kNoNickname;
  bool forwards_natively = false;  // AF: the sender is the link's appointed forwarder
  // The MAC addresses of the RBridges on the link whose Hellos the sender has received.
  std::vector<wire::MacAddress> heard;

  static std::optional<Hello> Parse(wire::ConstBytes pdu);
  Octets Write() const;
  friend bool operator==(const Hello&, const Hello&) = default;
};

struct LspId {
  SystemId system;
  uint8_t pseudonode = 0;
  uint8_t fragment = 0;
  friend auto operator<=>(const LspId&, const LspId&) = default;
};

// One link state PDU (fragment), whose TLVs are not interpreted yet.
struct Lsp {
  uint16_t lifetime = 0;  // remaining lifetime in seconds; 0: withdrawn
  LspId id;
  uint32_t sequence = 0;
  uint16_t checksum = 0;  // set by Seal(); checked by Parse() unless the LSP is withdrawn
  // The bits "partition repair", "attached", "overload" and "level" (ISO 10589 section 9.8), which
  // are stored and sent but not used.
  uint8_t flags = 1;
  Octets tlvs;

  // Computes the checksum (ISO 8473) of the bytes from the identifier on, so that the lifetime may
  // change.
  void Seal();
  static std::optional<Lsp> Parse(wire::ConstBytes pdu);
  Octets Write() const;
  friend bool operator==(const Lsp&, const Lsp&) = default;
};

// A line of a sequence numbers PDU, about one LSP.
struct LspEntry {
  uint16_t lifetime = 0;
  LspId id;
  uint32_t sequence = 0;
  uint16_t checksum = 0;
  friend bool operator==(const LspEntry&, const LspEntry&) = default;
};

// A sequence numbers PDU: a list of all LSPs that the sender has with identifiers in a range
// (complete: CSNP), or of LSPs that the sender requests or has received (partial: PSNP).
struct SequenceNumbers {
  static constexpr size_t kMaxEntries = 85;  // the maximum number that fits into kMaxPdu
  bool complete = false;
  SystemId source;
  LspId first, last;  // the range of a complete list, both included
  std::vector<LspEntry> entries;

  static std::optional<SequenceNumbers> Parse(wire::ConstBytes pdu);
  Octets Write() const;
  friend bool operator==(const SequenceNumbers&, const SequenceNumbers&) = default;
};

}  // namespace viaduct::rbridge
