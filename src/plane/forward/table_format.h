// The layout in shared memory of a node's forwarding table.
//
// A Tree Bitmap (Eatherton, Varghese, Dittia: Tree Bitmap: Hardware/Software IP Lookups with
// Incremental Updates, ACM CCR 34(2), 2004) with a stride of 6 bits, for IPv4 (6 levels at most)
// and IPv6 (22): small, as there may be a table for each of hundreds of nodes, and a change touches
// only the nodes on the way to its prefix.
//
// The writer never changes memory that a reader may see: it copies the nodes on the way (persistent
// tree) and publishes the copy by one store of kCurrent. So all changes of a batch appear at once.
// Memory that version V released is overwritten only when version V + 2 is built, which kBegun
// announces before; a reader of version V whose lookup ended with kBegun <= V + 1 has read nothing
// of version V + 2, else it repeats the lookup (a seqlock with one version of grace: readers
// neither block nor register, so a reader that is killed leaves nothing behind).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace viaduct::forward::table {

// Indices of words from the start of the memory; all "places" are such indices, too.
enum HeaderWord : size_t {
  kMagicWord,
  kFormatWord,  // kFormat
  kSizeWord,    // size of the memory, in words
  kCurrent,     // version << 32 | place of the roots; 0: nothing published yet
  kBegun,       // the version that is being built, or the current one
  kIcmpIpv4,    // limited types << 32 | milliseconds
  kIcmpIpv6,
  kHeaderWords
};
inline constexpr uint64_t kMagic = 0x5641444643544231;  // "VADFCTB1"
inline constexpr uint64_t kFormat = 2;

inline constexpr int kStride = 6;
inline constexpr size_t kSlots = 1 << kStride;
// Levels for 128 bits, and a last level for prefixes that end where it begins.
inline constexpr int kMaxLevels = 128 / kStride + 1;

// A node: two bitmaps, and the places of its children and results.
//  - Bit (1 << l) + v of `internal`: a prefix ends here, l < 6 bits below the node, with value v.
//  - Bit v of `external`: there is a child for the next 6 bits v.
// Children (nodes) and results (words: places of entries) are arrays in the order of these bits.
enum NodeWord : size_t {
  kInternal,
  kExternal,
  kPlaces,
  kNodeWords
};                                                     // kPlaces: children << 32 | results
inline constexpr size_t kRootsWords = 2 * kNodeWords;  // IPv4, IPv6

// An entry: kind << 32 | number of hops; then the hops.
enum HopWord : size_t { kPort, kGatewayHigh, kGatewayLow, kHopWords };
inline constexpr uint64_t kHasGateway = uint64_t{1} << 32;  // in kPort, above the ifindex

// The bits of `internal` of all prefixes that cover a slot.
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
