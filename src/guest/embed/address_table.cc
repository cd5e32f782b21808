#include "guest/embed/address_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "base/error.h"
#include "base/file.h"

namespace viaduct::embed {
namespace {

constexpr size_t kWord = sizeof(uint32_t);
// The addresses to which the two compared images are linked differ by a multiple of this number. So
// an address in one image differs from the same address in the other image only in the uppermost
// byte of the address's 32-bit word.
constexpr uintptr_t kStep = uintptr_t{1} << 24;
constexpr char kMagic[8] = {'V', 'I', 'A', 'A', 'D', 'D', 'R', '1'};

// The header of a table's file. The offsets follow it; all numbers are in this machine's byte
// order.
struct Header {
  char magic[sizeof kMagic];
  uint64_t begin, end;  // the addresses of the image's begin and end
  uint64_t count;       // the number of offsets that follow
};

uint32_t Load(const char* at) {
  uint32_t word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

bool IsAddress(uint32_t word, uintptr_t begin, uintptr_t end) {
  return word >= begin && word <= end + kPageSize;
}

bool IsNote(const ElfImage& image, uintptr_t address) {
  return std::any_of(image.notes.begin(), image.notes.end(), [&](const auto& note) {
    return address >= note.first && address - note.first < note.second;
  });
}

bool AreSame(const ElfImage::Segment& one, const ElfImage::Segment& other, uintptr_t distance) {
  return one.address - other.address == distance && one.memory == other.memory &&
         one.offset == other.offset && one.stored == other.stored &&
         one.protection == other.protection;
}

// Compares one segment of two executables; `one` and `other` are the segment's bytes in the two
// files. Adds the address words that it finds to `table`.
void CompareSegments(const ElfImage& image, const ElfImage::Segment& segment, const char* one,
                     const char* other, uintptr_t distance, AddressTable& table) {
  size_t past = 0;  // the position after the last address word that was found
  for (size_t i = 0; i < segment.stored; ++i) {
    if (one[i] == other[i] || IsNote(image, segment.address + i)) continue;
    const size_t at = i + 1 - kWord;
    const uintptr_t address = segment.address + at;
    if (i + 1 < past + kWord || !IsAddress(Load(one + at), image.begin(), image.end()) ||
        Load(one + at) - Load(other + at) != static_cast<uint32_t>(distance)) {
      throw Error(
          fmt::format("differs in more than the addresses from its copy that is linked to other "
                      "addresses, at {:#x}",
                      address));
    }
    past = i + 1;
    table.words.push_back(static_cast<uint32_t>(address - image.begin()));
  }
}

void CheckRange(const ElfImage& image) {
  if (image.end() + kPageSize > kAddressesEnd)
    throw Error("is not linked to addresses below 2 GiB");
}

[[noreturn]] void ThrowDamaged(const std::filesystem::path& file) {
  throw Error(fmt::format("has an address table, {}, that is damaged or belongs to another kernel",
                          file.string()));
}

}  // namespace

std::filesystem::path AddressTableOf(const std::filesystem::path& image) {
  return image.string() + ".addresses";
}

AddressTable CompareImages(const ElfImage& one, const ElfImage& other) {
  CheckRange(one);
  CheckRange(other);
  const uintptr_t distance = one.begin() - other.begin();  // modulo 2^64 if it is negative
  if (distance == 0 || distance % kStep != 0)
    throw Error("and its copy are not linked to different addresses");
  const bool same = std::equal(
      one.segments.begin(), one.segments.end(), other.segments.begin(), other.segments.end(),
      [distance](const auto& a, const auto& b) { return AreSame(a, b, distance); });
  if (!same) throw Error("and its copy that is linked to other addresses have different segments");
  const std::string bytes = ReadNamedFile(one.file), others = ReadNamedFile(other.file);
  AddressTable table;
  for (const ElfImage::Segment& segment : one.segments) {
    if (segment.offset + segment.stored > std::min(bytes.size(), others.size()))
      throw Error("was truncated while it was read");
    CompareSegments(one, segment, &bytes[segment.offset], &others[segment.offset], distance, table);
  }
  if (table.words.empty()) throw Error("contains no addresses that could be moved");
  table.begin = one.begin();
  table.end = one.end();
  return table;
}

void WriteAddressTable(const std::filesystem::path& file, const AddressTable& table) {
  Header header{{}, table.begin, table.end, table.words.size()};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  bytes.append(reinterpret_cast<const char*>(table.words.data()), table.words.size() * kWord);
  WriteFile(file.string(), bytes);
}

AddressTable ReadAddressTable(const std::filesystem::path& file, const ElfImage& image) {
  CheckRange(image);
  const std::string bytes = ReadNamedFile(file);
  Header header;
  if (bytes.size() < sizeof header) ThrowDamaged(file);
  std::memcpy(&header, bytes.data(), sizeof header);
  AddressTable table{header.begin, header.end, {}};
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0 ||
      header.count != (bytes.size() - sizeof header) / kWord || bytes.size() % kWord != 0 ||
      header.begin != image.begin() || header.end != image.end()) {
    ThrowDamaged(file);
  }
  table.words.resize(header.count);
  std::memcpy(table.words.data(), bytes.data() + sizeof header, header.count * kWord);
  auto segment = image.segments.begin();
  uintptr_t free = image.begin();
  for (const uint32_t word : table.words) {
    const uintptr_t address = image.begin() + word;
    while (segment != image.segments.end() && address >= segment->address + segment->stored)
      ++segment;
    if (segment == image.segments.end() || address < std::max(free, segment->address) ||
        address + kWord > segment->address + segment->stored) {
      ThrowDamaged(file);
    }
    free = address + kWord;
  }
  return table;
}

void MoveAddresses(const AddressTable& table, std::span<char> image, uintptr_t to) {
  const auto by = static_cast<uint32_t>(to - table.begin);  // modulo 2^32 if it is negative
  for (const uint32_t offset : table.words) {
    if (offset + kWord > image.size()) throw Error("has addresses beyond its end");
    char* at = image.data() + offset;
    uint32_t word = Load(at);
    if (!IsAddress(word, table.begin, table.end)) {
      throw Error(
          fmt::format("has the address table of another kernel: there is no address at {:#x}",
                      table.begin + offset));
    }
    word += by;
    std::memcpy(at, &word, sizeof word);
  }
}

}  // namespace viaduct::embed
