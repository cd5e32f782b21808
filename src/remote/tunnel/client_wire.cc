#include "remote/tunnel/client_wire.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/wire/fragment.h"
#include "base/wire/ip.h"

namespace viaduct::tunnel {
namespace {

using wire::ArpPacket;
using wire::EthernetHeader;

constexpr Duration kAskInterval = Duration::Seconds(1);
// The maximum silence of a client; afterwards its MAC address is requested again, because another
// client may have taken its place.
constexpr Duration kFresh = Duration::Seconds(10);

bool IsIp(uint16_t type) {
  return type == wire::ether_type::kIpv4 || type == wire::ether_type::kIpv6;
}

std::array<std::byte, EthernetHeader::kSize + ArpPacket::kSize> FrameOf(
    const ArpPacket& arp, const wire::MacAddress& destination) {
  std::array<std::byte, EthernetHeader::kSize + ArpPacket::kSize> frame{};
  const EthernetHeader header{destination, ClientWire::kMac, wire::ether_type::kArp};
  arp.Write(wire::Bytes(frame).subspan(header.Write(frame)));
  return frame;
}

wire::IpAddress DestinationOf(wire::ConstBytes packet) {
  if (const auto header = wire::Ipv4Header::Parse(packet)) return header->destination;
  const auto header = wire::Ipv6Header::Parse(packet);
  return header ? header->destination : wire::IpAddress();
}

bool IsBroadcast(const wire::IpAddress& address) {
  return address.family == wire::Family::kIpv4 &&
         std::all_of(address.bytes.begin(), address.bytes.begin() + 4,
                     [](uint8_t byte) { return byte == 0xff; });
}

}  // namespace

ClientWire::ClientWire(std::vector<wire::IpAddress> own, size_t mtu)
    : own_(std::move(own)), mtu_(mtu) {}

std::optional<wire::ConstBytes> ClientWire::Take(wire::ConstBytes frame, Instant now,
                                                 const Send& send) {
  const auto header = EthernetHeader::Parse(frame);
  if (!header) return wire::ConstBytes();
  Learn(header->source, now, send);
  const wire::ConstBytes payload = frame.subspan(EthernetHeader::kSize);
  if (header->type != wire::ether_type::kArp) {
    return IsIp(header->type) ? payload : wire::ConstBytes();
  }
  Answer(payload, send);
  return std::nullopt;
}

void ClientWire::Learn(const wire::MacAddress& source, Instant now, const Send& send) {
  if (source.IsMulticast()) return;
  client_ = source;
  heard_ = now;
  ForgetOld(now);
  for (const Held& held : std::exchange(held_, {})) SendTo(source, held.packet, send);
}

void ClientWire::Answer(wire::ConstBytes payload, const Send& send) const {
  const auto request = ArpPacket::Parse(payload);
  if (!request || request->operation != ArpPacket::kRequest) return;
  // The client probes whether another host has the client's own address (RFC 5227); the probe is
  // not answered.
  if (std::ranges::count(own_, request->target_ip) > 0) return;
  send(FrameOf({.operation = ArpPacket::kReply,
                .sender_mac = kMac,
                .sender_ip = request->target_ip,
                .target_mac = request->sender_mac,
                .target_ip = request->sender_ip},
               request->sender_mac));
}

// Sends an ARP probe without a sender's address, because this end of the wire has no address; Linux
// answers a probe of any sender (RFC 5227, section 2.1.1).
void ClientWire::Ask(Instant now, const Send& send) {
  const auto address = std::ranges::find(own_, wire::Family::kIpv4, &wire::IpAddress::family);
  if (address == own_.end() || (asked_ && now - *asked_ < kAskInterval)) return;
  asked_ = now;
  send(FrameOf({.operation = ArpPacket::kRequest,
                .sender_mac = kMac,
                .sender_ip = {wire::Family::kIpv4, {}},
                .target_mac = {},
                .target_ip = *address},
               wire::kBroadcastMac));
}

void ClientWire::Give(wire::ConstBytes packet, Instant now, const Send& send) {
  const wire::IpAddress destination = DestinationOf(packet);
  ForgetOld(now);
  if (IsBroadcast(destination)) return SendTo(wire::kBroadcastMac, packet, send);
  if (destination.IsMulticast()) return SendTo(wire::MulticastMac(destination), packet, send);
  if (!client_ || now - heard_ > kFresh) Ask(now, send);
  client_ ? SendTo(*client_, packet, send) : Hold(packet, now);
}

void ClientWire::Hold(wire::ConstBytes packet, Instant now) {
  if (held_.size() == kMaxHeld) {
    ++unresolved_;
    return;
  }
  held_.push_back({{packet.begin(), packet.end()}, now});
}

void ClientWire::ForgetOld(Instant now) {
  while (!held_.empty() && now - held_.front().since > kTimeout) {
    held_.pop_front();
    ++unresolved_;
  }
}

void ClientWire::SendTo(const wire::MacAddress& destination, wire::ConstBytes packet,
                        const Send& send) const {
  std::vector<std::byte> frame;
  const auto header = wire::Ipv4Header::Parse(packet);
  const auto make = [&](size_t size) {
    frame.resize(EthernetHeader::kSize + size);
    EthernetHeader{destination, kMac, header ? wire::ether_type::kIpv4 : wire::ether_type::kIpv6}
        .Write(frame);
    return wire::Bytes(frame).subspan(EthernetHeader::kSize);
  };
  if (header && packet.size() > mtu_) {
    return forward::Fragment(*header, packet, mtu_, make, [&](wire::Bytes) { send(frame); });
  }
  std::ranges::copy(packet, make(packet.size()).begin());
  send(frame);
}

}  // namespace viaduct::tunnel
