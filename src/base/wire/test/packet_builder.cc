#include "base/wire/test/packet_builder.h"

#include <fmt/format.h>

#include <optional>

#include "base/error.h"
#include "base/wire/checksum.h"
#include "base/wire/layers.h"

namespace viaduct::wire::packet {
namespace {

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;  // clang before 17 needs this deduction guide

using Buffer = std::vector<std::byte>;

// Puts a header before the bytes of the layers above it, which have been built already.
template <class Header>
void Prepend(Buffer& built, const Header& header, size_t size = Header::kSize) {
  built.insert(built.begin(), size, std::byte{0});
  header.Write(built);
}

// Returns the EtherType of `layer`, for the header below this layer; 0 if there is no such
// EtherType.
uint16_t TypeOf(const Layer* layer) {
  if (layer == nullptr) return 0;
  return std::visit(Overloaded{[](const Vlan& vlan) { return vlan.tag_type; },
                               [](const Mpls&) { return ether_type::kMpls; },
                               [](const Arp&) { return ether_type::kArp; },
                               [](const Ipv4&) { return ether_type::kIpv4; },
                               [](const Ipv6&) { return ether_type::kIpv6; },
                               [](const auto&) { return uint16_t{0}; }},
                    *layer);
}

uint8_t ProtocolOf(const Layer* layer) {
  if (layer == nullptr) return ip_protocol::kNoNext;
  return std::visit(Overloaded{[](const Udp&) { return ip_protocol::kUdp; },
                               [](const Tcp&) { return ip_protocol::kTcp; },
                               [](const Icmp&) { return ip_protocol::kIcmp; },
                               [](const Icmpv6&) { return ip_protocol::kIcmpv6; },
                               [](const auto&) { return ip_protocol::kNoNext; }},
                    *layer);
}

// The addresses of an IP header, which the checksum of the transport above it covers.
struct Addresses {
  IpAddress source, destination;
};

std::optional<Addresses> AddressesOf(const Layer* layer) {
  if (layer == nullptr) return std::nullopt;
  if (const auto* ip = std::get_if<Ipv4>(layer)) {
    return Addresses{IpAddress::Parse(ip->source), IpAddress::Parse(ip->destination)};
  }
  if (const auto* ip = std::get_if<Ipv6>(layer)) {
    return Addresses{IpAddress::Parse(ip->source), IpAddress::Parse(ip->destination)};
  }
  return std::nullopt;
}

// Writes one layer for Build(). `below` and `above`: the neighbouring layers, null if the layer is
// the outermost or innermost layer.
class Writer {
 public:
  Writer(Buffer& built, const Layer* below, const Layer* above)
      : built_(built), below_(below), above_(above) {}

  void operator()(const Ethernet& layer) {
    Prepend(built_,
            EthernetHeader{MacAddress::Parse(layer.destination), MacAddress::Parse(layer.source),
                           layer.type != 0 ? layer.type : TypeOf(above_)});
  }
  void operator()(const Vlan& layer) {
    Prepend(built_, VlanTag{.priority = layer.priority, .id = layer.id, .type = TypeOf(above_)});
  }
  void operator()(const Mpls& layer) {
    const bool bottom = above_ == nullptr || !std::holds_alternative<Mpls>(*above_);
    Prepend(built_, MplsLabel{.label = layer.label, .bottom_of_stack = bottom, .ttl = layer.ttl});
  }
  void operator()(const Arp& layer) {
    Prepend(built_,
            ArpPacket{layer.operation, MacAddress::Parse(layer.sender_mac),
                      IpAddress::Parse(layer.sender_ip), MacAddress::Parse(layer.target_mac),
                      IpAddress::Parse(layer.target_ip)});
  }
  void operator()(const Ipv4& layer) {
    Prepend(built_,
            Ipv4Header{.tos = layer.tos,
                       .total_length = static_cast<uint16_t>(built_.size() + Ipv4Header::kSize),
                       .id = layer.id,
                       .dont_fragment = layer.dont_fragment,
                       .more_fragments = layer.more_fragments,
                       .fragment_offset = layer.fragment_offset,
                       .ttl = layer.ttl,
                       .protocol = layer.protocol != 0 ? layer.protocol : ProtocolOf(above_),
                       .source = IpAddress::Parse(layer.source),
                       .destination = IpAddress::Parse(layer.destination)});
  }
  void operator()(const Ipv6& layer) {
    Prepend(built_, Ipv6Header{.traffic_class = layer.traffic_class,
                               .payload_length = static_cast<uint16_t>(built_.size()),
                               .next_header =
                                   layer.next_header != 0 ? layer.next_header : ProtocolOf(above_),
                               .hop_limit = layer.hop_limit,
                               .source = IpAddress::Parse(layer.source),
                               .destination = IpAddress::Parse(layer.destination)});
  }
  void operator()(const Udp& layer) {
    Prepend(built_, UdpHeader{.source_port = layer.source,
                              .destination_port = layer.destination,
                              .length = static_cast<uint16_t>(built_.size() + UdpHeader::kSize)});
    SetChecksum(ip_protocol::kUdp, UdpHeader::kChecksumOffset);
  }
  void operator()(const Tcp& layer) {
    Prepend(built_, TcpHeader{.source_port = layer.source,
                              .destination_port = layer.destination,
                              .sequence = layer.sequence,
                              .acknowledgment = layer.acknowledgment,
                              .flags = layer.flags,
                              .window = layer.window});
    SetChecksum(ip_protocol::kTcp, TcpHeader::kChecksumOffset);
  }
  void operator()(const Icmp& layer) {
    Prepend(built_, IcmpHeader{layer.type, layer.code, 0, layer.rest});
    Store16(built_.data() + IcmpHeader::kChecksumOffset, InternetChecksum(built_));
  }
  void operator()(const Icmpv6& layer) {
    Prepend(built_, IcmpHeader{layer.type, layer.code, 0, layer.rest});
    SetChecksum(ip_protocol::kIcmpv6, IcmpHeader::kChecksumOffset);
  }
  void operator()(const Payload& layer) {
    const auto bytes = std::as_bytes(std::span(layer.bytes));
    built_.insert(built_.begin(), bytes.begin(), bytes.end());
  }

 private:
  void SetChecksum(uint8_t protocol, size_t offset) {
    const auto addresses = AddressesOf(below_);
    if (!addresses) return;
    Store16(built_.data() + offset,
            TransportChecksum(addresses->source, addresses->destination, protocol, built_));
  }

  Buffer& built_;
  const Layer* below_;
  const Layer* above_;
};

std::string FlagsOf(const TcpHeader& tcp) {
  // The letters of tcpdump and scapy for the TCP flags, from bit 0 on.
  constexpr std::string_view kNames = "FSRPAUEC";
  std::string text;
  for (size_t bit = 0; bit < kNames.size(); ++bit) {
    if ((tcp.flags >> bit & 1) != 0) text += kNames[bit];
  }
  return text;
}

// Parses the layers of a frame one after another, and adds each to a description.
class Describer {
 public:
  explicit Describer(ConstBytes rest) : rest_(rest) {}

  void Link() {
    const auto ethernet = EthernetHeader::Parse(rest_);
    if (!ethernet) return;
    Add(fmt::format("eth {} > {}", ethernet->source.ToString(), ethernet->destination.ToString()),
        EthernetHeader::kSize);
    uint16_t type = ethernet->type;
    while (type == ether_type::kVlan || type == ether_type::kServiceVlan) {
      const auto tag = VlanTag::Parse(rest_);
      if (!tag) return;
      Add(fmt::format("{} {}", type == ether_type::kVlan ? "vlan" : "svlan", tag->id),
          VlanTag::kSize);
      type = tag->type;
    }
    if (type == ether_type::kMpls) Labels();
    if (type == ether_type::kArp) AddArp();
    if (type == ether_type::kIpv4 || type == ether_type::kIpv6) return Ip();
    if (type != ether_type::kMpls && type != ether_type::kArp) {
      text_ += fmt::format(" type {:04x}", type);
    }
  }

  void Ip() {
    const auto layers = FindIpLayersInPacket(rest_);
    if (!layers) {
      text_ += " / malformed";
      return;
    }
    const ConstBytes packet = rest_.first(layers->end);
    text_ += text_.empty() ? "" : " / ";
    text_ += layers->family == Family::kIpv4 ? DescribeIpv4(packet) : DescribeIpv6(packet);
    rest_ = packet.subspan(layers->transport);
    if (!layers->fragment) Transport(*layers, packet);
  }

  std::string Finish() const { return text_ + fmt::format(" / {} bytes", rest_.size()); }
  ConstBytes rest() const { return rest_; }

 private:
  void Add(const std::string& layer, size_t size) {
    text_ += text_.empty() ? layer : " / " + layer;
    rest_ = rest_.subspan(size);
  }

  void Labels() {
    for (auto label = MplsLabel::Parse(rest_); label; label = MplsLabel::Parse(rest_)) {
      Add(fmt::format("mpls {} ttl {}", label->label, label->ttl), MplsLabel::kSize);
      if (label->bottom_of_stack) return;
    }
  }

  void AddArp() {
    const auto arp = ArpPacket::Parse(rest_);
    if (!arp) return;
    const std::string text =
        arp->operation == ArpPacket::kRequest
            ? fmt::format("arp who-has {} tell {}", arp->target_ip.ToString(),
                          arp->sender_ip.ToString())
            : fmt::format("arp {} is-at {}", arp->sender_ip.ToString(), arp->sender_mac.ToString());
    Add(text, ArpPacket::kSize);
  }

  static std::string DescribeIpv4(ConstBytes packet) {
    const Ipv4Header ip = *Ipv4Header::Parse(packet);
    std::string text = fmt::format("ipv4 {} > {} ttl {} id {}", ip.source.ToString(),
                                   ip.destination.ToString(), ip.ttl, ip.id);
    if (ip.tos != 0) text += fmt::format(" tos {}", ip.tos);
    if (ip.dont_fragment) text += " DF";
    if (ip.IsFragment()) {
      text += fmt::format(" fragment {}{}", ip.fragment_offset * 8, ip.more_fragments ? "+" : "");
    }
    if (InternetChecksum(packet.first(ip.header_length)) != 0) text += " checksum bad";
    return text;
  }

  static std::string DescribeIpv6(ConstBytes packet) {
    const Ipv6Header ip = *Ipv6Header::Parse(packet);
    std::string text = fmt::format("ipv6 {} > {} hops {}", ip.source.ToString(),
                                   ip.destination.ToString(), ip.hop_limit);
    if (ip.traffic_class != 0) text += fmt::format(" class {}", ip.traffic_class);
    return text;
  }

  void Transport(const IpLayers& layers, ConstBytes packet) {
    bool right = TransportChecksumIsRight(layers.Source(packet), layers.Destination(packet),
                                          layers.protocol, rest_);
    if (layers.protocol == ip_protocol::kUdp) {
      if (const auto udp = UdpHeader::Parse(rest_)) {
        Add(fmt::format("udp {} > {} checksum {}", udp->source_port, udp->destination_port,
                        udp->checksum == 0 ? "none"
                        : right            ? "good"
                                           : "bad"),
            UdpHeader::kSize);
      }
    } else if (layers.protocol == ip_protocol::kTcp) {
      if (const auto tcp = TcpHeader::Parse(rest_)) {
        Add(fmt::format("tcp {} > {} {} seq {} checksum {}", tcp->source_port,
                        tcp->destination_port, FlagsOf(*tcp), tcp->sequence,
                        right ? "good" : "bad"),
            tcp->header_length);
      }
    } else if (layers.protocol == ip_protocol::kIcmp || layers.protocol == ip_protocol::kIcmpv6) {
      if (layers.protocol == ip_protocol::kIcmp) right = InternetChecksum(rest_) == 0;
      if (const auto icmp = IcmpHeader::Parse(rest_)) {
        Add(fmt::format("{} {}/{} checksum {}",
                        layers.protocol == ip_protocol::kIcmp ? "icmp" : "icmpv6", icmp->type,
                        icmp->code, right ? "good" : "bad"),
            IcmpHeader::kSize);
      }
    } else {
      text_ += fmt::format(" / protocol {}", layers.protocol);
    }
  }

  ConstBytes rest_;
  std::string text_;
};

}  // namespace

std::vector<std::byte> Build(const Packet& packet) {
  Buffer built;
  for (size_t i = packet.layers.size(); i-- > 0;) {
    const Layer* const below = i > 0 ? &packet.layers[i - 1] : nullptr;
    const Layer* const above = i + 1 < packet.layers.size() ? &packet.layers[i + 1] : nullptr;
    std::visit(Writer(built, below, above), packet.layers[i]);
  }
  return built;
}

Payload Counting(size_t size) {
  Payload payload;
  for (size_t i = 0; i < size; ++i) payload.bytes += static_cast<char>(i);
  return payload;
}

std::string Describe(ConstBytes frame) {
  Describer describer(frame);
  describer.Link();
  return describer.Finish();
}

std::string DescribePacket(ConstBytes packet) {
  Describer describer(packet);
  describer.Ip();
  return describer.Finish();
}

ConstBytes PayloadOf(ConstBytes frame) {
  Describer describer(frame);
  describer.Link();
  return describer.rest();
}

std::vector<std::byte> FromHex(std::string_view text) {
  std::vector<std::byte> bytes;
  int high = -1;
  for (char c : text) {
    if (c == ' ' || c == '\n') continue;
    const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    if (digit < 0) throw UsageError(fmt::format("\"{}\" is not a hexadecimal digit", c));
    if (high < 0) {
      high = digit;
    } else {
      bytes.push_back(static_cast<std::byte>(high << 4 | digit));
      high = -1;
    }
  }
  if (high >= 0) throw UsageError("an odd number of hexadecimal digits");
  return bytes;
}

}  // namespace viaduct::wire::packet
