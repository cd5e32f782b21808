#include "plane/rbridge/tables.h"

#include <algorithm>

namespace viaduct::rbridge {
namespace {

// Returns a hash of the key by Fibonacci hashing: addresses that differ only in their last bytes
// get different slots.
size_t HashOf(TerminalKey key) { return (key * 0x9e3779b97f4a7c15u) >> 40; }

}  // namespace

TerminalKey MakeKey(const wire::MacAddress& mac, uint16_t vlan) {
  TerminalKey key = 0;
  for (const uint8_t byte : mac.bytes) key = key << 8 | byte;
  return key << 16 | vlan;
}

wire::MacAddress MacOf(TerminalKey key) {
  wire::MacAddress mac;
  for (size_t i = 0; i < 6; ++i) mac.bytes[i] = static_cast<uint8_t>(key >> (56 - 8 * i));
  return mac;
}

size_t TerminalTable::Home(TerminalKey key) { return HashOf(key) & (kTerminalSlots - 1); }

// Returns the slot of the key's entry, or the empty slot where the entry would be stored.
size_t TerminalTable::SlotOf(TerminalKey key) const {
  size_t slot = Home(key);
  // The number of probes is bounded, because the table may be in memory that other processes have
  // written.
  for (size_t i = 0; i < kTerminalSlots && slots_[slot].key != 0 && slots_[slot].key != key; ++i) {
    slot = (slot + 1) & (kTerminalSlots - 1);
  }
  return slot;
}

const TerminalTable::Entry* TerminalTable::Find(TerminalKey key) const {
  const Entry& entry = slots_[SlotOf(key)];
  return entry.key == key ? &entry : nullptr;
}

bool TerminalTable::Set(TerminalKey key, const Location& location, uint32_t epoch) {
  Entry& entry = slots_[SlotOf(key)];
  if (entry.key != key) {
    if (size_ >= kMaxTerminals) return false;
    ++size_;
  }
  entry = {key, location, epoch};
  return true;
}

bool TerminalTable::Erase(TerminalKey key) {
  size_t hole = SlotOf(key);
  if (slots_[hole].key != key) return false;
  // Later entries are moved into the hole unless their home slot is behind the hole.
  for (size_t at = hole;;) {
    at = (at + 1) & (kTerminalSlots - 1);
    if (slots_[at].key == 0) break;
    const size_t from_home = (at - Home(slots_[at].key)) & (kTerminalSlots - 1);
    const size_t from_hole = (at - hole) & (kTerminalSlots - 1);
    if (from_home < from_hole) continue;
    slots_[hole] = slots_[at];
    hole = at;
  }
  slots_[hole] = {};
  --size_;
  return true;
}

void AdjacencySlots::Fill(std::span<const Adjacency, kMaxAdjacencies> adjacencies) {
  slots_.fill(kNone);
  for (AdjacencyIndex i = 0; i < kMaxAdjacencies; ++i) {
    if (adjacencies[i].port == kNone) continue;
    size_t slot = HashOf(MakeKey(adjacencies[i].mac, adjacencies[i].port)) % kAdjacencySlots;
    while (slots_[slot] != kNone) slot = (slot + 1) % kAdjacencySlots;
    slots_[slot] = i;
  }
}

AdjacencyIndex AdjacencySlots::Find(std::span<const Adjacency, kMaxAdjacencies> adjacencies,
                                    PortIndex port, const wire::MacAddress& mac) const {
  size_t slot = HashOf(MakeKey(mac, port)) % kAdjacencySlots;
  // The number of probes is bounded, because the table may be in memory that other processes have
  // written.
  for (size_t i = 0; i < kAdjacencySlots && slots_[slot] < kMaxAdjacencies; ++i) {
    const Adjacency& one = adjacencies[slots_[slot]];
    if (one.port == port && one.mac == mac) return slots_[slot];
    slot = (slot + 1) % kAdjacencySlots;
  }
  return kNone;
}

void Tables::Clear() {
  *this = {};
  for (Adjacency& adjacency : adjacencies) adjacency.port = kNone;
  adjacency_slots.Fill(adjacencies);
  hop_count = TrillHeader::kMaxHops;
  ClearRoutes();
}

void Tables::ClearRoutes() {
  own_tree = kMaxTrees;
  trees = {};
  by_nickname.fill(kNone);
  RBridgeEntry nobody{.nickname = kNoNickname, .next_hop = kNone, .tree_neighbour = {}};
  nobody.tree_neighbour.fill(kNone);
  rbridges.fill(nobody);
}

void Tables::SetAdjacency(AdjacencyIndex index, const Adjacency& adjacency) {
  adjacencies[index] = adjacency;
  adjacency_slots.Fill(adjacencies);
}

AdjacencyIndex Tables::FindAdjacency(PortIndex port, const wire::MacAddress& mac) const {
  return adjacency_slots.Find(adjacencies, port, mac);
}

}  // namespace viaduct::rbridge
