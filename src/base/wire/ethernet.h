// Link-layer formats: Ethernet II, 802.1Q, MPLS label stack entries, ARP for IPv4.
//
// The functions of all header types in this library: Parse() returns nothing if the bytes are too
// short or contradict the format; Write() needs a buffer of at least kSize bytes and returns the
// number of bytes written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/wire/address.h"
#include "base/wire/bytes.h"

namespace viaduct::wire {

namespace ether_type {
inline constexpr uint16_t kIpv4 = 0x0800;
inline constexpr uint16_t kArp = 0x0806;
inline constexpr uint16_t kVlan = 0x8100;         // 802.1Q
inline constexpr uint16_t kServiceVlan = 0x88a8;  // 802.1ad
inline constexpr uint16_t kIpv6 = 0x86dd;
inline constexpr uint16_t kMpls = 0x8847;
}  // namespace ether_type

inline constexpr MacAddress kBroadcastMac{{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}};

// Returns the MAC address of the frames to an IP multicast group: RFC 1112 section 6.4, RFC 2464
// section 7.
MacAddress MulticastMac(const IpAddress& group);

struct EthernetHeader {
  static constexpr size_t kSize = 14;
  MacAddress destination;
  MacAddress source;
  uint16_t type = 0;  // EtherType; under 1536: the length of an 802.3 frame

  static std::optional<EthernetHeader> Parse(ConstBytes bytes);
  size_t Write(Bytes bytes) const;
  friend bool operator==(const EthernetHeader&, const EthernetHeader&) = default;
};

// The VLAN tag, which follows an EtherType of kVlan or kServiceVlan.
struct VlanTag {
  static constexpr size_t kSize = 4;
  uint8_t priority = 0;  // PCP, 0..7
  bool drop_eligible = false;
  uint16_t id = 0;    // 0..4095
  uint16_t type = 0;  // EtherType of the payload

  static std::optional<VlanTag> Parse(ConstBytes bytes);
  size_t Write(Bytes bytes) const;
  friend bool operator==(const VlanTag&, const VlanTag&) = default;
};

// An MPLS label stack entry (RFC 3032 section 2.1).
struct MplsLabel {
  static constexpr size_t kSize = 4;
  uint32_t label = 0;         // 20 bits
  uint8_t traffic_class = 0;  // 3 bits (RFC 5462)
  bool bottom_of_stack = true;
  uint8_t ttl = 64;

  static std::optional<MplsLabel> Parse(ConstBytes bytes);
  size_t Write(Bytes bytes) const;
  friend bool operator==(const MplsLabel&, const MplsLabel&) = default;
};

// An ARP packet (RFC 826) for Ethernet and IPv4; Parse() returns nothing for addresses of other
// types.
struct ArpPacket {
  static constexpr size_t kSize = 28;
  enum Operation : uint16_t { kRequest = 1, kReply = 2 };
  uint16_t operation = kRequest;
  MacAddress sender_mac;
  IpAddress sender_ip;
  MacAddress target_mac;
  IpAddress target_ip;

  static std::optional<ArpPacket> Parse(ConstBytes bytes);
  size_t Write(Bytes bytes) const;
  friend bool operator==(const ArpPacket&, const ArpPacket&) = default;
};

}  // namespace viaduct::wire
