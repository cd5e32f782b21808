// The tables by which an RBridge forwards, as one flat object without pointers: it can be in shared
// memory, be copied, or fill eBPF maps. One writer, the control plane; Forward() reads only.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>

#include "base/wire/address.h"
#include "plane/rbridge/trill.h"

namespace viaduct::rbridge {

inline constexpr size_t kMaxPorts = 64;
inline constexpr size_t kMaxAdjacencies = 256;
inline constexpr size_t kAdjacencySlots = 512;  // a power of two, twice as many as adjacencies
inline constexpr size_t kMaxRBridges = 1024;
inline constexpr size_t kMaxTrees = 4;
inline constexpr size_t kTerminalSlots = 8192;  // a power of two
// Above this the hash table's probes become long; frames to terminals that do not fit are flooded.
inline constexpr size_t kMaxTerminals = kTerminalSlots / 4 * 3;

using PortIndex = uint16_t;
using AdjacencyIndex = uint16_t;
// The index of an RBridge in the tables; this RBridge is 0.
using RBridgeIndex = uint16_t;
inline constexpr uint16_t kNone = 0xffff;

inline constexpr uint16_t kDefaultVlan = 1;  // VLAN of untagged frames

struct Port {
  wire::MacAddress mac;
  // Neither flag is a bool, which may not be read from memory that another process writes.
  uint8_t exists;
  // Whether this RBridge receives terminals' frames from the link and sends frames to terminals on
  // it: it is the link's appointed forwarder, uninhibited, and the port is not for RBridges only.
  uint8_t serves_terminals;
};

// A neighbour on a port, with which there is an adjacency (RFC 7177).
struct Adjacency {
  wire::MacAddress mac;
  PortIndex port;  // kNone: no adjacency has this index
};

// The neighbours by port and address: a hash table with linear probing, computed again at each
// change.
class AdjacencySlots {
 public:
  AdjacencyIndex Find(std::span<const Adjacency, kMaxAdjacencies> adjacencies, PortIndex port,
                      const wire::MacAddress& mac) const;
  void Fill(std::span<const Adjacency, kMaxAdjacencies> adjacencies);

 private:
  std::array<AdjacencyIndex, kAdjacencySlots> slots_;  // kNone: empty
};

struct RBridgeEntry {
  Nickname nickname;
  AdjacencyIndex next_hop;  // kNone: out of reach, or this RBridge itself
  // The neighbour from which frames arrive that this RBridge has sent into a tree (RFC 6325 section
  // 4.5.2, reverse-path forwarding check); kNone: they are refused.
  std::array<AdjacencyIndex, kMaxTrees> tree_neighbour;
};

// This RBridge's part of a distribution tree.
struct Tree {
  Nickname root;  // kNoNickname: there is no such tree
  std::bitset<kMaxAdjacencies> neighbours;
};

// The location of a terminal.
struct Location {
  RBridgeIndex rbridge = 0;  // 0: at a port of this RBridge
  PortIndex port = kNone;    // valid if rbridge is 0
  friend bool operator==(const Location&, const Location&) = default;
};

// A terminal's address and VLAN in one word, which is never 0 for a valid address.
using TerminalKey = uint64_t;
TerminalKey MakeKey(const wire::MacAddress& mac, uint16_t vlan);
wire::MacAddress MacOf(TerminalKey key);
inline uint16_t VlanOf(TerminalKey key) { return static_cast<uint16_t>(key); }

// A hash table with linear probing: no slot is empty between an entry's home and the entry.
class TerminalTable {
 public:
  struct Entry {
    TerminalKey key;  // 0: empty
    Location location;
    uint32_t epoch;  // Tables::epoch when a frame of the terminal was last seen
  };
  // Returns null if the terminal is unknown.
  const Entry* Find(TerminalKey key) const;
  // Adds or changes an entry; returns false if there is no space.
  bool Set(TerminalKey key, const Location& location, uint32_t epoch);
  // Returns false if there was no such entry.
  bool Erase(TerminalKey key);
  uint32_t size() const { return size_; }
  const std::array<Entry, kTerminalSlots>& slots() const { return slots_; }

 private:
  static size_t Home(TerminalKey key);
  size_t SlotOf(TerminalKey key) const;

  std::array<Entry, kTerminalSlots> slots_;
  uint32_t size_;
};

// Zero bytes are not valid tables: call Clear() first.
struct Tables {
  Nickname nickname;  // this RBridge's; kNoNickname: it does not forward yet
  uint8_t hop_count;  // hop count of frames that enter here
  uint8_t own_tree;   // tree of frames that enter here; kMaxTrees: none
  // Counted by the control plane; the first frame of a terminal in each epoch is reported, so that
  // terminals that are silent can be forgotten.
  uint32_t epoch;
  std::array<Port, kMaxPorts> ports;
  std::array<Adjacency, kMaxAdjacencies> adjacencies;  // changed by SetAdjacency()
  AdjacencySlots adjacency_slots;
  std::array<RBridgeEntry, kMaxRBridges> rbridges;
  std::array<RBridgeIndex, 65536> by_nickname;  // kNone: unknown
  std::array<Tree, kMaxTrees> trees;
  TerminalTable terminals;

  void Clear();
  // Clears only the routing part; ports, adjacencies and terminals stay.
  void ClearRoutes();
  // Sets an adjacency; removes it if its port is kNone.
  void SetAdjacency(AdjacencyIndex index, const Adjacency& adjacency);
  // Returns the adjacency with the neighbour of this address on the port; kNone if there is none.
  AdjacencyIndex FindAdjacency(PortIndex port, const wire::MacAddress& mac) const;
};
static_assert(std::is_trivially_copyable_v<Tables>);

}  // namespace viaduct::rbridge
