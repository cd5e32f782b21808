#include "plane/forward/table_writer.h"

#include <algorithm>
#include <bit>

#include "base/error.h"
#include "plane/forward/address_bits.h"

namespace viaduct::forward {
namespace {

using namespace table;  // NOLINT(google-build-using-namespace): the format's constants

// The maximum number of blocks that one change takes, if all are of the largest size: blocks for
// the children of all levels, results, an entry, roots.
constexpr size_t kBlocksPerChange = kMaxLevels + 4;
// The number of blocks reserved for removals, which must never fail: for each size, the need of two
// versions with one change each.
constexpr size_t kReserve = 2 * 2 * kBlocksPerChange;

size_t ClassOf(size_t words) { return static_cast<size_t>(std::bit_width(words - 1)); }

size_t ElementWords(size_t bitmap) { return bitmap == kInternal ? 1 : size_t{kNodeWords}; }

uint64_t BelowBit(size_t bit) { return (uint64_t{1} << bit) - 1; }

std::vector<uint64_t> WordsOf(const Entry& entry) {
  std::vector<uint64_t> words{uint64_t{static_cast<uint8_t>(entry.kind)} << 32 | entry.hops.size()};
  for (const Hop& hop : entry.hops) {
    std::array<uint64_t, 2> gateway{};
    if (hop.gateway) {
      for (size_t i = 0; i < 16; ++i) gateway[i / 8] = gateway[i / 8] << 8 | hop.gateway->bytes[i];
    }
    words.insert(words.end(),
                 {hop.ifindex | (hop.gateway ? kHasGateway : 0), gateway[0], gateway[1]});
  }
  return words;
}

}  // namespace

uint32_t TableMemory::TakeOf(size_t size_class) {
  if (!free_[size_class].empty()) {
    return free_[size_class].extract(free_[size_class].begin()).value();
  }
  if (size_class == kClasses - 1) {
    if (next_ + kLargest > words_)
      throw Error("the forwarding table no longer fits into its memory");
    next_ += kLargest;
    return static_cast<uint32_t>(next_ - kLargest);
  }
  const uint32_t both = TakeOf(size_class + 1);
  free_[size_class].insert(both + (uint32_t{1} << size_class));
  return both;
}

void TableMemory::Free(uint32_t place, size_t size_class) {
  for (; size_class < kClasses - 1; ++size_class) {
    const uint32_t size = uint32_t{1} << size_class;
    const auto offset = static_cast<uint32_t>(place - table::kHeaderWords);
    const auto other = static_cast<uint32_t>((offset ^ size) + table::kHeaderWords);
    if (free_[size_class].erase(other) == 0) break;
    place = std::min(place, other);
  }
  free_[size_class].insert(place);
}

uint32_t TableMemory::Take(size_t words) {
  const uint32_t place = TakeOf(ClassOf(words));
  new_.insert(place);
  return place;
}

void TableMemory::Give(uint32_t place, size_t words) {
  if (new_.erase(place) != 0) {
    Free(place, ClassOf(words));
  } else {
    given_[ClassOf(words)].push_back(place);
  }
}

void TableMemory::StartVersion() {
  new_.clear();
  for (size_t i = 0; i < kClasses; ++i) {
    for (const uint32_t place : given_[i]) Free(place, i);
    given_[i].clear();
  }
}

TableWriter::TableWriter(std::span<Word> words) : words_(words), memory_(words.size()) {
  if (words.size() < kHeaderWords + 2 * kReserve * TableMemory::kLargest) {
    throw UsageError("too little memory for a forwarding table");
  }
  Put(kSizeWord, words.size());
  Put(kFormatWord, kFormat);
  SetLimits({});
  Begin();
  Publish();
  Put(kMagicWord, kMagic);
}

void TableWriter::SetLimits(const IcmpLimits& limits) {
  Put(kIcmpIpv4, uint64_t{limits.ipv4_types} << 32 | limits.ipv4_interval_ms);
  Put(kIcmpIpv6, uint64_t{limits.ipv6_types} << 32 | limits.ipv6_interval_ms);
}

void TableWriter::Begin() {
  ++version_;
  Put(kBegun, version_);
  memory_.StartVersion();
  const uint32_t roots = memory_.Take(kRootsWords);
  if (roots_ != 0) {
    Copy(roots_, roots, kRootsWords);
    memory_.Give(roots_, kRootsWords);
  } else {
    for (size_t i = 0; i < kRootsWords; ++i) Put(roots + i, 0);
  }
  roots_ = roots;
}

void TableWriter::Publish() { Put(kCurrent, uint64_t{version_} << 32 | roots_); }

void TableWriter::Copy(uint32_t from, uint32_t to, size_t words) {
  for (size_t i = 0; i < words; ++i) Put(to + i, At(from + i));
}

uint32_t TableWriter::RootOf(wire::Family family) const {
  return roots_ + (family == wire::Family::kIpv6 ? uint32_t{kNodeWords} : 0);
}

TableWriter::Target TableWriter::TargetOf(const wire::IpPrefix& prefix) {
  AddressBits bits(prefix.address);
  const auto levels = static_cast<size_t>(prefix.length / kStride);
  for (size_t level = 0; level < levels; ++level) bits.Next();
  const int rest = prefix.length % kStride;
  return {levels, (size_t{1} << rest) + (bits.Next() >> (kStride - rest))};
}

uint32_t TableWriter::ArrayOf(uint32_t node, size_t bitmap) const {
  const uint64_t places = At(node + kPlaces);
  return static_cast<uint32_t>(bitmap == kInternal ? places : places >> 32);
}

void TableWriter::SetArray(uint32_t node, size_t bitmap, uint32_t place) {
  const uint64_t places = At(node + kPlaces);
  const uint64_t low = 0xFFFFFFFF;
  Put(node + kPlaces,
      bitmap == kInternal ? (places & ~low) | place : (places & low) | uint64_t{place} << 32);
}

bool TableWriter::Has(uint32_t node, size_t bitmap, size_t bit) const {
  return (At(node + bitmap) >> bit & 1) != 0;
}

uint32_t TableWriter::Element(uint32_t node, size_t bitmap, size_t bit) const {
  const auto before = static_cast<size_t>(std::popcount(At(node + bitmap) & BelowBit(bit)));
  return ArrayOf(node, bitmap) + static_cast<uint32_t>(before * ElementWords(bitmap));
}

// Replaces an array of a tree node by a copy that no reader can know.
void TableWriter::MakeNew(uint32_t node, size_t bitmap) {
  const auto words = static_cast<size_t>(std::popcount(At(node + bitmap))) * ElementWords(bitmap);
  const uint32_t old = ArrayOf(node, bitmap);
  if (words == 0 || memory_.IsNew(old)) return;
  const uint32_t place = memory_.Take(words);
  Copy(old, place, words);
  memory_.Give(old, words);
  SetArray(node, bitmap, place);
}

// Adds a bit and an element of zeros to an array of a new tree node, or removes a bit and its
// element.
void TableWriter::ChangeArray(uint32_t node, size_t bitmap, size_t bit, bool is_added) {
  const uint64_t bits = At(node + bitmap);
  const size_t element = ElementWords(bitmap);
  const size_t before = static_cast<size_t>(std::popcount(bits & BelowBit(bit))) * element;
  const size_t old_words = static_cast<size_t>(std::popcount(bits)) * element;
  const size_t words = is_added ? old_words + element : old_words - element;
  const uint32_t old = ArrayOf(node, bitmap);
  const uint32_t place = words == 0 ? 0 : memory_.Take(words);
  Copy(old, place, before);
  if (is_added) {
    for (size_t i = 0; i < element; ++i) Put(place + before + i, 0);
    Copy(old + static_cast<uint32_t>(before), place + static_cast<uint32_t>(before + element),
         old_words - before);
  } else {
    Copy(old + static_cast<uint32_t>(before + element), place + static_cast<uint32_t>(before),
         words - before);
  }
  if (old_words != 0) memory_.Give(old, old_words);
  Put(node + bitmap, bits ^ uint64_t{1} << bit);
  SetArray(node, bitmap, place);
}

// Returns the tree nodes on the path to a prefix. Afterwards all nodes on the path are new copies;
// missing nodes are added.
std::vector<TableWriter::Step> TableWriter::MakeWay(const wire::IpPrefix& prefix,
                                                    const Target& target) {
  std::vector<Step> way;
  AddressBits bits(prefix.address);
  uint32_t node = RootOf(prefix.address.family);
  for (size_t level = 0; level < target.levels; ++level) {
    const size_t slot = bits.Next();
    way.push_back({node, slot});
    if (Has(node, kExternal, slot)) {
      MakeNew(node, kExternal);
    } else {
      ChangeArray(node, kExternal, slot, true);
    }
    node = Element(node, kExternal, slot);
  }
  way.push_back({node, 0});
  return way;
}

bool TableWriter::Set(const wire::IpPrefix& prefix, const Entry& entry) {
  if (memory_.LargestLeft() < kReserve) return false;
  const Target target = TargetOf(prefix);
  const uint32_t node = MakeWay(prefix, target).back().node;
  if (!Has(node, kInternal, target.bit)) {
    ChangeArray(node, kInternal, target.bit, true);
  } else {
    MakeNew(node, kInternal);
    Release(static_cast<uint32_t>(At(Element(node, kInternal, target.bit))));
  }
  Put(Element(node, kInternal, target.bit), Store(entry));
  return true;
}

bool TableWriter::Contains(const wire::IpPrefix& prefix) const {
  const Target target = TargetOf(prefix);
  AddressBits bits(prefix.address);
  uint32_t node = RootOf(prefix.address.family);
  for (size_t level = 0; level < target.levels; ++level) {
    const size_t slot = bits.Next();
    if (!Has(node, kExternal, slot)) return false;
    node = Element(node, kExternal, slot);
  }
  return Has(node, kInternal, target.bit);
}

void TableWriter::Remove(const wire::IpPrefix& prefix) {
  if (!Contains(prefix)) return;
  if (memory_.LargestLeft() < kBlocksPerChange) {  // Publish() regains memory released before
    Publish();
    Begin();
  }
  const Target target = TargetOf(prefix);
  const std::vector<Step> way = MakeWay(prefix, target);
  const uint32_t node = way.back().node;
  Release(static_cast<uint32_t>(At(Element(node, kInternal, target.bit))));
  ChangeArray(node, kInternal, target.bit, false);
  Prune(way);
}

// Removes tree nodes that have become empty, from the last node of the path upwards.
void TableWriter::Prune(const std::vector<Step>& way) {
  for (size_t i = way.size() - 1; i > 0; --i) {
    const uint32_t node = way[i].node;
    if (At(node + kInternal) != 0 || At(node + kExternal) != 0) return;
    ChangeArray(way[i - 1].node, kExternal, way[i - 1].slot, false);
  }
}

uint32_t TableWriter::Store(const Entry& entry) {
  const EntryWords words = WordsOf(entry);
  const auto [found, is_new] = entries_.try_emplace(words);
  ++found->second.uses;
  if (!is_new) return found->second.place;
  const uint32_t place = memory_.Take(words.size());
  for (size_t i = 0; i < words.size(); ++i) Put(place + i, words[i]);
  found->second.place = place;
  by_place_[place] = found;
  return place;
}

void TableWriter::Release(uint32_t place) {
  const auto found = by_place_.find(place);
  if (--found->second->second.uses != 0) return;
  memory_.Give(place, found->second->first.size());
  entries_.erase(found->second);
  by_place_.erase(found);
}

}  // namespace viaduct::forward
