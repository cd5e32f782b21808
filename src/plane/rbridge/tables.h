// The tables by which an RBridge forwards, as one flat object without pointers: the object can be
// in shared memory, be copied, or fill eBPF maps. The control plane is the only writer; Forward()
// only reads.
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
inline constexpr size_t kAdjacencySlots = 512;  // a power of two, twice the number of adjacencies
inline constexpr size_t kMaxRBridges = 1024;
inline constexpr size_t kMaxTrees = 4;
inline constexpr size_t kTerminalSlots = 8192;  // a power of two
// The maximum number of terminals: with more, probing the hash table would take long. Frames to
// terminals that are not in the table are flooded.
inline constexpr size_t kMaxTerminals = kTerminalSlots / 4 * 3;

using PortIndex = uint16_t;
using AdjacencyIndex = uint16_t;
// The index of an RBridge in the tables; this RBridge has index 0.
using RBridgeIndex = uint16_t;
inline constexpr uint16_t kNone = 0xffff;

inline constexpr uint16_t kDefaultVlan = 1;  // VLAN of untagged frames

struct Port {
  wire::MacAddress mac;
  // Whether the port exists. The two flags do not have the type bool, because a bool must not be
  // read from memory that another process writes.
  uint8_t exists;
  // Whether this RBridge receives terminals' frames from the link and sends frames to the link's
  // terminals: the RBridge is the link's appointed forwarder, not inhibited, and the port is not
  // for RBridges only.
  uint8_t serves_terminals;
};

// A neighbour on a port, with which there is an adjacency (RFC 7177).
struct Adjacency {
  wire::MacAddress mac;
  PortIndex port;  // kNone: the index is unused
};

// The index of a neighbour by port and address: a hash table with linear probing, rebuilt at each
// change.
class AdjacencySlots {
 public:
  AdjacencyIndex Find(std::span<const Adjacency, kMaxAdjacencies> adjacencies, PortIndex port,
                      const wire::MacAddress& mac) const;
  void Fill(std::span<const Adjacency, kMaxAdjacencies> adjacencies);

 private:
  std::array<AdjacencyIndex, kAdjacencySlots> slots_;  // kNone: an empty slot
};

struct RBridgeEntry {
  Nickname nickname;
  AdjacencyIndex next_hop;  // kNone: unreachable, or this RBridge itself
  // For each tree, the only neighbour from which this RBridge accepts frames that the entry's
  // RBridge has sent into the tree (RFC 6325 section 4.5.2, reverse-path forwarding check); kNone:
  // frames of the entry's RBridge are refused.
  std::array<AdjacencyIndex, kMaxTrees> tree_neighbour;
};

// A distribution tree, as far as this RBridge needs it: the root, and this RBridge's neighbours in
// the tree.
struct Tree {
  Nickname root;  // kNoNickname: the tree does not exist
  std::bitset<kMaxAdjacencies> neighbours;
};

// The location of a terminal.
struct Location {
  RBridgeIndex rbridge = 0;  // 0: at a port of this RBridge
  PortIndex port = kNone;    // valid if rbridge is 0
  friend bool operator==(const Location&, const Location&) = default;
};

// A terminal's MAC address and VLAN in one word, which is never 0 for a valid address.
using TerminalKey = uint64_t;
TerminalKey MakeKey(const wire::MacAddress& mac, uint16_t vlan);
wire::MacAddress MacOf(TerminalKey key);
inline uint16_t VlanOf(TerminalKey key) { return static_cast<uint16_t>(key); }

// The terminals' locations: a hash table with linear probing, in which no slot between an entry's
// home slot and the entry is empty.
class TerminalTable {
 public:
  struct Entry {
    TerminalKey key;  // 0: an empty slot
    Location location;
    uint32_t epoch;  // Tables::epoch when the terminal's last frame was seen
  };
  // Returns the entry of a terminal, or null if the terminal is unknown.
  const Entry* Find(TerminalKey key) const;
  // Adds or changes a terminal's entry; returns false if there is no space.
  bool Set(TerminalKey key, const Location& location, uint32_t epoch);
  // Removes a terminal's entry; returns false if there was none.
  bool Erase(TerminalKey key);
  uint32_t size() const { return size_; }
  const std::array<Entry, kTerminalSlots>& slots() const { return slots_; }

 private:
  static size_t Home(TerminalKey key);
  size_t SlotOf(TerminalKey key) const;

  std::array<Entry, kTerminalSlots> slots_;
  uint32_t size_;
};

// The tables of an RBridge. Memory of zero bytes is not a valid table: call Clear() first.
struct Tables {
  Nickname nickname;  // this RBridge's nickname; kNoNickname: it does not forward yet
  uint8_t hop_count;  // initial hop count of frames that this RBridge encapsulates
  uint8_t own_tree;   // tree of frames that this RBridge encapsulates; kMaxTrees: none
  // The number of the current epoch, which the control plane increases. The first frame of a
  // terminal in each epoch is reported, so that silent terminals can be forgotten.
  uint32_t epoch;
  std::array<Port, kMaxPorts> ports;
  std::array<Adjacency, kMaxAdjacencies> adjacencies;  // changed only by SetAdjacency()
  AdjacencySlots adjacency_slots;
  std::array<RBridgeEntry, kMaxRBridges> rbridges;
  std::array<RBridgeIndex, 65536> by_nickname;  // kNone: unknown nickname
  std::array<Tree, kMaxTrees> trees;
  TerminalTable terminals;

  void Clear();
  // Clears only the routing part; ports, adjacencies and terminals remain.
  void ClearRoutes();
  // Sets an adjacency; if its port is kNone, removes it.
  void SetAdjacency(AdjacencyIndex index, const Adjacency& adjacency);
  // Returns the index of the adjacency with the neighbour of this address on the port; kNone if
  // there is none.
  AdjacencyIndex FindAdjacency(PortIndex port, const wire::MacAddress& mac) const;
};
static_assert(std::is_trivially_copyable_v<Tables>);

}  // namespace viaduct::rbridge
