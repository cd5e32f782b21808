// Packets for tests, written layer by layer:
//
//   auto frame = Build(Ethernet{.source = "02::1", ...} / Ipv4{.source = "10.0.0.1", ...} /
//                      Udp{.source = 698, .destination = 698} / Payload{"hello"});
//   EXPECT_EQ(Describe(frame), "eth 02:... > ff:... / ipv4 10.0.0.1 > 10.0.0.2 ttl 64 / udp ...");
//
// Build() fills in the fields that a sender would fill in: the EtherType or protocol number of the
// next layer, lengths, checksums.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/wire/bytes.h"
#include "base/wire/ethernet.h"
#include "base/wire/ip.h"
#include "base/wire/transport.h"

namespace viaduct::wire::packet {

struct Ethernet {
  std::string source = "02:00:00:00:00:01";
  std::string destination = "02:00:00:00:00:02";
  uint16_t type = 0;  // 0: the EtherType of the next layer
};
struct Vlan {
  uint16_t id = 0;
  uint8_t priority = 0;
  // The EtherType by which the layer below announces this VLAN tag.
  uint16_t tag_type = ether_type::kVlan;
};
struct Mpls {
  uint32_t label = 0;
  uint8_t ttl = 64;
};
struct Arp {
  ArpPacket::Operation operation = ArpPacket::kRequest;
  std::string sender_mac = "02:00:00:00:00:01";
  std::string sender_ip = "10.0.0.1";
  std::string target_mac = "00:00:00:00:00:00";
  std::string target_ip = "10.0.0.2";
};
struct Ipv4 {
  std::string source = "10.0.0.1";
  std::string destination = "10.0.0.2";
  uint8_t ttl = 64;
  uint8_t tos = 0;
  uint16_t id = 0;
  bool dont_fragment = false;
  bool more_fragments = false;
  uint16_t fragment_offset = 0;
  uint8_t protocol = 0;  // 0: the protocol of the next layer
};
struct Ipv6 {
  std::string source = "2001:db8::1";
  std::string destination = "2001:db8::2";
  uint8_t hop_limit = 64;
  uint8_t traffic_class = 0;
  uint8_t next_header = 0;  // 0: the protocol of the next layer
};
struct Udp {
  uint16_t source = 1024;
  uint16_t destination = 1024;
};
struct Tcp {
  uint16_t source = 1024;
  uint16_t destination = 80;
  uint32_t sequence = 0;
  uint32_t acknowledgment = 0;
  uint8_t flags = tcp_flag::kAck;
  uint16_t window = 0xffff;
};
struct Icmp {
  uint8_t type = 8;  // default: echo request
  uint8_t code = 0;
  uint32_t rest = 0;
};
struct Icmpv6 {
  uint8_t type = 128;  // default: echo request
  uint8_t code = 0;
  uint32_t rest = 0;
};
struct Payload {
  std::string bytes;
};

using Layer = std::variant<Ethernet, Vlan, Mpls, Arp, Ipv4, Ipv6, Udp, Tcp, Icmp, Icmpv6, Payload>;

// The layers of a packet, outermost first.
struct Packet {
  std::vector<Layer> layers;
};

template <class T>
concept IsLayer = std::constructible_from<Layer, T>;

template <IsLayer First, IsLayer Second>
Packet operator/(First first, Second second) {
  return Packet{{Layer(std::move(first)), Layer(std::move(second))}};
}
template <IsLayer Next>
Packet operator/(Packet packet, Next next) {
  packet.layers.push_back(Layer(std::move(next)));
  return packet;
}

std::vector<std::byte> Build(const Packet& packet);

// Returns a payload of `size` bytes that count up from 0, for tests that must distinguish the parts
// of a payload.
Payload Counting(size_t size);

// Returns a description of a frame in one line, with every field that tests compare, and checksums
// as "good", "bad" or "none": "eth A > B / vlan 5 / ipv4 S > D ttl 64 id 1 / udp 1024 > 698
// checksum good / 5 bytes".
std::string Describe(ConstBytes frame);
// Returns the line of Describe() for a packet that starts at its IP header.
std::string DescribePacket(ConstBytes packet);

// Returns the bytes after the last header that Describe() describes.
ConstBytes PayloadOf(ConstBytes frame);

// Converts hexadecimal digits to bytes; ignores white space. Throws UsageError.
std::vector<std::byte> FromHex(std::string_view text);

}  // namespace viaduct::wire::packet
