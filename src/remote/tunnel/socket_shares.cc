#include "remote/tunnel/socket_shares.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <type_traits>
#include <utility>

#include "base/wire/bytes.h"
#include "base/wire/ethernet.h"
#include "base/wire/ip.h"
#include "base/wire/vxlan.h"

namespace viaduct::tunnel {
namespace {

constexpr uint64_t kMinRoom = 65536;  // the maximum bytes of a merged message

// Get() and Set() access memory that the program in the kernel reads and writes, too.
template <class T>
T Get(T& shared) {
  return std::atomic_ref<T>(shared).load(std::memory_order_relaxed);
}

template <class T>
void Set(T& shared, std::type_identity_t<T> value) {
  std::atomic_ref<T>(shared).store(value, std::memory_order_relaxed);
}

bool IsTag(uint16_t type) {
  return type == wire::ether_type::kVlan || type == wire::ether_type::kServiceVlan;
}

// Returns the length of the frame at the beginning of the message, by its IP header; 0 if the frame
// has no IP header.
size_t InnerLength(std::span<const std::byte> message) {
  constexpr size_t kIpv4Length = 2, kIpv6Length = 4;  // offsets in the IP header
  if (message.size() < wire::VxlanHeader::kSize + wire::EthernetHeader::kSize) return 0;
  const auto frame = message.subspan(wire::VxlanHeader::kSize);
  size_t at = wire::EthernetHeader::kSize;
  uint16_t type = wire::Load16(frame.data() + at - sizeof type);
  for (int tags = 0; tags < 2 && IsTag(type); ++tags) {
    at += wire::VlanTag::kSize;
    if (frame.size() < at) return 0;
    type = wire::Load16(frame.data() + at - sizeof type);
  }
  const auto rest = frame.subspan(at);
  if (type == wire::ether_type::kIpv4 && rest.size() >= kIpv4Length + sizeof type) {
    return at + wire::Load16(rest.data() + kIpv4Length);
  }
  if (type == wire::ether_type::kIpv6 && rest.size() >= kIpv6Length + sizeof type) {
    return at + wire::Ipv6Header::kSize + wire::Load16(rest.data() + kIpv6Length);
  }
  return 0;
}

// Returns the number of datagrams in the message as the program in the kernel counts them. The
// program cannot see whether UDP_GRO will report segments to the reader.
uint64_t DatagramsOf(const Underlay::Message& message) {
  if (message.segment == 0) return 1;
  const size_t frame = InnerLength(message.bytes) + wire::VxlanHeader::kSize;
  return frame > message.segment ? 1 : Underlay::DatagramsOf(message);
}

// Whether the program may have counted segments that the kernel does not report to the reader: the
// segments of a long frame of another protocol than IP.
bool IsUncertain(const Underlay::Message& message) {
  constexpr size_t kLong = 2048;
  return message.segment == 0 && message.bytes.size() > kLong && InnerLength(message.bytes) == 0;
}

// Returns the address of `peer` as two halves, in their order in memory.
std::array<uint64_t, 2> SourceOf(const Peer& peer) {
  std::array<uint64_t, 2> halves;
  static_assert(sizeof halves == sizeof peer.as_in6().sin6_addr);
  std::memcpy(halves.data(), &peer.as_in6().sin6_addr, sizeof halves);
  return halves;
}

}  // namespace

SocketShares::SocketShares(int socket, std::span<const uint32_t> vnis, size_t room)
    : shares_(AttachShares(socket, vnis, room)) {
  by_vni_.reserve(vnis.size());
  for (const uint32_t vni : vnis) by_vni_.emplace(vni, by_vni_.size() + 1);
}

viaduct_share& SocketShares::At(size_t client) const { return shares_.all.get()[client + 1]; }

void SocketShares::SetState(size_t client, viaduct_share_state state) {
  Set(At(client).state, state);
  differs_ = true;
}

void SocketShares::SetClient(size_t client, const Peer& peer) {
  // The share is unclaimed while its address is written, because the write is not atomic.
  SetState(client, VIADUCT_SHARE_UNCLAIMED);
  const auto source = SourceOf(peer);
  Set(At(client).source[0], source[0]);
  Set(At(client).source[1], source[1]);
  SetState(client, VIADUCT_SHARE_CLAIMED);
}

void SocketShares::SetLimit(size_t client, std::optional<size_t> datagrams) {
  Set(At(client).limit, datagrams ? static_cast<uint32_t>(*datagrams + 1) : 0);
}

// Finds the share of a message, as the program in the kernel does.
viaduct_share& SocketShares::ShareOf(const Underlay::Message& message) const {
  viaduct_share& foreign = *shares_.all;
  const auto header = wire::VxlanHeader::Parse(message.bytes);
  if (!header) return foreign;
  const auto found = by_vni_.find(header->vni);
  if (found == by_vni_.end()) return foreign;
  viaduct_share& share = shares_.all.get()[found->second];
  const uint32_t state = Get(share.state);
  if (state == VIADUCT_SHARE_ANYONE) return share;
  if (state == VIADUCT_SHARE_UNCLAIMED) return foreign;
  const auto source = SourceOf(message.source);
  return Get(share.source[0]) == source[0] && Get(share.source[1]) == source[1] ? share : foreign;
}

void SocketShares::Take(const Underlay::Message& message) {
  // Only the reading thread writes the members that are changed here.
  const uint64_t datagrams = DatagramsOf(message);
  const uint64_t cost = message.bytes.size() + datagrams * VIADUCT_SHARE_EACH;
  viaduct_share& share = ShareOf(message);
  Set(share.taken, share.taken + cost);
  Set(share.datagrams_taken, share.datagrams_taken + datagrams);
  Set(shares_.sum->taken, shares_.sum->taken + cost);
  if (IsUncertain(message)) differs_ = true;
}

void SocketShares::Settle(uint32_t overflowed, bool is_drained) {
  if (overflowed != std::exchange(overflowed_, overflowed)) {
    // Reduces the shares, because the kernel has dropped datagrams although the clients kept to
    // their shares: a datagram takes more of the kernel's memory than its cost.
    const uint64_t room = shares_.sum->room;
    Set(shares_.sum->room, std::max(room - room / 8, kMinRoom));
    differs_ = true;
  }
  if (!is_drained || !differs_.exchange(false)) return;
  // A datagram that the program has accepted, but that is not queued yet, is counted as read too
  // early, until the next call.
  for (size_t i = 0; i <= by_vni_.size(); ++i) {
    viaduct_share& share = shares_.all.get()[i];
    Set(share.taken, Get(share.queued));
    Set(share.datagrams_taken, Get(share.datagrams));
  }
  Set(shares_.sum->taken, Get(shares_.sum->queued));
}

uint64_t SocketShares::RefusedMessages() const { return Get(shares_.sum->messages); }

SocketShares::Refused SocketShares::RefusedOf(size_t client) const {
  return {.lost = Get(At(client).lost), .spoofed = Get(At(client).spoofed)};
}

SocketShares::Foreign SocketShares::RefusedForeign() const {
  return {.malformed = Get(shares_.all->lost), .unknown_vni = Get(shares_.all->spoofed)};
}

}  // namespace viaduct::tunnel
