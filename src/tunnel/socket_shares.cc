#include "tunnel/socket_shares.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <type_traits>
#include <utility>

#include "wire/vxlan.h"

namespace viaduct::tunnel {
namespace {

constexpr uint64_t kLeastRoom = 65536;  // bytes: a merged message

// The kernel's program reads and writes the same memory.
template <class T>
T Get(T& shared) {
  return std::atomic_ref<T>(shared).load(std::memory_order_relaxed);
}

template <class T>
void Set(T& shared, std::type_identity_t<T> value) {
  std::atomic_ref<T>(shared).store(value, std::memory_order_relaxed);
}

uint64_t CostOf(const Underlay::Message& message) {
  return message.bytes.size() + Underlay::DatagramsOf(message) * VIADUCT_SHARE_EACH;
}

// In the order in which they are in memory.
std::array<uint64_t, 2> SourceOf(const Peer& peer) {
  std::array<uint64_t, 2> halves;
  static_assert(sizeof halves == sizeof peer.as_in6().sin6_addr);
  std::memcpy(halves.data(), &peer.as_in6().sin6_addr, sizeof halves);
  return halves;
}

}  // namespace

SocketShares::SocketShares(int socket, std::span<const uint32_t> vnis, size_t room)
    : shares_(bpf::AttachShares(socket, vnis, room)) {
  by_vni_.reserve(vnis.size());
  for (const uint32_t vni : vnis) by_vni_.emplace(vni, by_vni_.size() + 1);
}

viaduct_share& SocketShares::At(size_t client) const { return shares_.all.get()[client + 1]; }

void SocketShares::SetState(size_t client, viaduct_share_state state) {
  Set(At(client).state, state);
  differs_ = true;
}

void SocketShares::SetClient(size_t client, const Peer& peer) {
  // Between the two nobody's: the address is not written at once.
  SetState(client, VIADUCT_SHARE_UNCLAIMED);
  const auto source = SourceOf(peer);
  Set(At(client).source[0], source[0]);
  Set(At(client).source[1], source[1]);
  SetState(client, VIADUCT_SHARE_CLAIMED);
}

// As the program does it.
viaduct_share& SocketShares::ShareOf(const Underlay::Message& message) const {
  viaduct_share& strangers = *shares_.all;
  const auto header = wire::VxlanHeader::Parse(message.bytes);
  if (!header) return strangers;
  const auto found = by_vni_.find(header->vni);
  if (found == by_vni_.end()) return strangers;
  viaduct_share& share = shares_.all.get()[found->second];
  const uint32_t state = Get(share.state);
  if (state == VIADUCT_SHARE_ANYONE) return share;
  if (state == VIADUCT_SHARE_UNCLAIMED) return strangers;
  const auto source = SourceOf(message.source);
  return Get(share.source[0]) == source[0] && Get(share.source[1]) == source[1] ? share : strangers;
}

void SocketShares::Take(const Underlay::Message& message) {
  // Written by this thread alone.
  const uint64_t cost = CostOf(message);
  viaduct_share& share = ShareOf(message);
  Set(share.taken, share.taken + cost);
  Set(shares_.sum->taken, shares_.sum->taken + cost);
}

void SocketShares::Settle(uint32_t overflowed, bool is_drained) {
  if (overflowed != std::exchange(overflowed_, overflowed)) {
    // A datagram takes more of the kernel's memory than it is said to cost.
    const uint64_t room = shares_.sum->room;
    Set(shares_.sum->room, std::max(room - room / 8, kLeastRoom));
    differs_ = true;
  }
  if (!is_drained || !differs_.exchange(false)) return;
  // What the program has just let pass, but is not queued yet, is ahead until the next time.
  for (size_t i = 0; i <= by_vni_.size(); ++i) {
    viaduct_share& share = shares_.all.get()[i];
    Set(share.taken, Get(share.queued));
  }
  Set(shares_.sum->taken, Get(shares_.sum->queued));
}

uint64_t SocketShares::RefusedMessages() const { return Get(shares_.sum->messages); }

SocketShares::Refused SocketShares::RefusedOf(size_t client) const {
  return {.lost = Get(At(client).lost), .spoofed = Get(At(client).spoofed)};
}

SocketShares::Strange SocketShares::RefusedStrange() const {
  return {.malformed = Get(shares_.all->lost), .unknown_vni = Get(shares_.all->spoofed)};
}

}  // namespace viaduct::tunnel
