// The PDUs of an RBridge's control plane: IS-IS level 1 on broadcast links (ISO 10589), as TRILL
// uses it (RFC 6325 section 4.2, RFC 7176, RFC 7177), from the byte after the EtherType on.
//
// Parse() returns nothing for bytes that are too short, contradict themselves, or are of another
// kind; bytes after a PDU are padding.
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

// The maximum length of a PDU that every link carries: the minimum of TRILL's Sz (RFC 6325 section
// 4.3.1).
inline constexpr size_t kMaxPdu = 1470;  // bytes

// The IS-IS identifier of an RBridge: one of its MAC addresses.
struct SystemId {
  std::array<uint8_t, 6> bytes{};
  std::string ToString() const;  // "0200.0000.0001"
  friend auto operator<=>(const SystemId&, const SystemId&) = default;
};

enum class PduType : uint8_t {
  kHello = 15,
  kLsp = 18,
  kCompleteNumbers = 24,
  kPartialNumbers = 26
};
// Returns the type of a PDU with a valid common header, if an RBridge understands that type.
std::optional<PduType> TypeOf(wire::ConstBytes pdu);

// TRILL Hello: a level 1 LAN Hello with the TLVs Area Addresses, Protocols Supported,
// MT-Port-Capability (Special VLANs and Flags) and TRILL Neighbor.
struct Hello {
  SystemId source;
  uint16_t holding_time = 0;  // seconds
  uint8_t priority = 64;      // to become the link's designated RBridge, 0..127
  SystemId designated;        // the link's designated RBridge, as the sender sees it
  uint16_t port = 0;          // the sender's number of its port
  Nickname nickname = kNoNickname;
  bool forwards_natively = false;  // AF: the sender is the link's appointed forwarder
  // The MAC addresses of the RBridges on the link that the sender has heard.
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
  uint16_t lifetime = 0;  // remaining seconds; 0: withdrawn
  LspId id;
  uint32_t sequence = 0;
  uint16_t checksum = 0;  // set by Seal(), checked by Parse() (unless withdrawn)
  // Partition repair, attached, overload, level (ISO 10589 section 9.8): only passed on.
  uint8_t flags = 1;
  Octets tlvs;

  // Computes the checksum (ISO 8473: from the identifier on, so that the lifetime may change).
  void Seal();
  static std::optional<Lsp> Parse(wire::ConstBytes pdu);
  Octets Write() const;
  friend bool operator==(const Lsp&, const Lsp&) = default;
};

// A line of a sequence numbers PDU.
struct LspEntry {
  uint16_t lifetime = 0;
  LspId id;
  uint32_t sequence = 0;
  uint16_t checksum = 0;
  friend bool operator==(const LspEntry&, const LspEntry&) = default;
};

// The LSPs that the sender has, of all with identifiers in a range (complete: CSNP), or the LSPs
// that it requests or has received (partial: PSNP).
struct SequenceNumbers {
  static constexpr size_t kMaxEntries = 85;  // maximum that fits into kMaxPdu
  bool complete = false;
  SystemId source;
  LspId first, last;  // complete: the range, both included
  std::vector<LspEntry> entries;

  static std::optional<SequenceNumbers> Parse(wire::ConstBytes pdu);
  Octets Write() const;
  friend bool operator==(const SequenceNumbers&, const SequenceNumbers&) = default;
};

}  // namespace viaduct::rbridge
