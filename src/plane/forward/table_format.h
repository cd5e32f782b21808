// The layout in shared memory of a node's forwarding table.
//
// The table is a Tree Bitmap (Eatherton, Varghese, Dittia: Tree Bitmap: Hardware/Software IP
// Lookups with Incremental Updates, ACM CCR 34(2), 2004) with a stride of 6 bits, for IPv4 (6
// levels at most) and IPv6 (22). It is small, as hundreds of nodes may each have a table, and a
// change touches only the tree nodes on the path to its prefix.
//
// The writer never changes memory that a reader may read: it copies the tree nodes on the path
// (persistent tree) and publishes the copy by one store of kCurrent. So all changes of a batch
// appear at once. Memory that version V released is overwritten only when version V + 2 is built,
// which the writer announces in kBegun first. If kBegun <= V + 1 when a reader's lookup in version
// V has ended, the reader has read no data of version V + 2; else it repeats the lookup. (This is a
// seqlock with one version of grace: readers neither block nor register, so a reader that is killed
// leaves nothing behind.)
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace viaduct::forward::table {

// Indices of the header's words from the start of the memory; all "places" are also indices of
// words.
enum HeaderWord : size_t {
  kMagicWord,
  kFormatWord,  // the format's version, kFormat
  kSizeWord,    // size of the memory, in words
  kCurrent,     // version << 32 | place of the roots; 0: nothing published yet
  kBegun,       // the version that is being built, or the current version
  kIcmpIpv4,    // types of ICMP errors that are limited << 32 | interval in milliseconds
  kIcmpIpv6,
  kHeaderWords
};
inline constexpr uint64_t kMagic = 0x5641444643544231;  // the text "VADFCTB1"
inline constexpr uint64_t kFormat = 2;

inline constexpr int kStride = 6;
inline constexpr size_t kSlots = 1 << kStride;
// The maximum number of levels: those for 128 bits, and a last level for prefixes that end where
// the last level begins.
inline constexpr int kMaxLevels = 128 / kStride + 1;

// A tree node: two bitmaps, and the places of its children and results.
//  - Bit (1 << l) + v of `internal`: a prefix ends in this node, l < 6 bits below the node, and
// these
//    l bits have the value v.
//  - Bit v of `external`: the node has a child for the next 6 bits v.
// Children (tree nodes) and results (words: places of entries) are arrays in the order of these
// bits.
enum NodeWord : size_t {
  kInternal,
  kExternal,
  kPlaces,
  kNodeWords
};                                                     // kPlaces: children << 32 | results
inline constexpr size_t kRootsWords = 2 * kNodeWords;  // two roots: IPv4, IPv6

// The words of a hop. An entry is a word with kind << 32 | number of hops, followed by the hops.
enum HopWord : size_t { kPort, kGatewayHigh, kGatewayLow, kHopWords };
inline constexpr uint64_t kHasGateway = uint64_t{1} << 32;  // a bit of kPort, above the ifindex

// For each slot, the bits of `internal` of all prefixes that cover the slot.
inline constexpr std::array<uint64_t, kSlots> kAncestors = [] {
  std::array<uint64_t, kSlots> masks{};
  for (size_t slot = 0; slot < kSlots; ++slot) {
    for (int length = 0; length < kStride; ++length) {
      masks[slot] |= uint64_t{1} << ((size_t{1} << length) + (slot >> (kStride - length)));
    }
  }
  return masks;
}();

}  // namespace viaduct::forward::table
