#include "guest/embed/place.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "guest/embed/address_table.h"
#include "guest/embed/imports.h"
#include "guest/embed/stacks.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define VIADUCT_SANITIZED 1
#else
#define VIADUCT_SANITIZED 0
#endif

namespace viaduct::embed {
namespace {

// The gap between the guest's memory and the addresses of its vmalloc() mappings (VMALLOC_OFFSET of
// arch/um/include/asm/pgtable.h), rounded up on both sides.
constexpr uintptr_t kGap = uintptr_t{32} << 20;
// The lowest address at which a moved image may begin, above programs that are linked to the usual
// addresses; and the distance between the addresses that are tried.
constexpr uintptr_t kLowest = uintptr_t{64} << 20;
constexpr uintptr_t kPlaceStep = uintptr_t{1} << 20;

constexpr const char* kWanted[] = {kMainSymbol, kClockSymbol};

// Reserves a range of addresses; returns false, and overwrites nothing, if something is mapped in
// the range.
bool Reserve(Range range) {
  return mmap(reinterpret_cast<void*>(range.begin), range.end - range.begin, PROT_NONE,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1,
              0) != MAP_FAILED;
}

void MapSegment(const ElfImage::Segment& segment, int protection, int fd) {
  const uintptr_t begin = segment.address / kPageSize * kPageSize;
  const uintptr_t stored = segment.address + segment.stored;
  const auto fixed = MAP_PRIVATE | MAP_FIXED;
  if (segment.stored > 0 &&
      mmap(reinterpret_cast<void*>(begin), stored - begin, protection, fixed, fd,
           static_cast<off_t>(segment.offset / kPageSize * kPageSize)) == MAP_FAILED) {
    throw SystemError("map a kernel", errno);
  }
  const uintptr_t end = segment.address + segment.memory;
  if (end == stored) return;
  const uintptr_t zeros = RoundUpToPage(stored);
  std::memset(reinterpret_cast<void*>(stored), 0, std::min(zeros, end) - stored);
  if (end > zeros && mmap(reinterpret_cast<void*>(zeros), RoundUpToPage(end) - zeros, protection,
                          fixed | MAP_ANONYMOUS, -1, 0) == MAP_FAILED) {
    throw SystemError("map a kernel's variables", errno);
  }
}

void Protect(const ElfImage::Segment& segment) {
  const uintptr_t begin = segment.address / kPageSize * kPageSize;
  SystemCall("protect a kernel",
             mprotect(reinterpret_cast<void*>(begin), segment.address + segment.memory - begin,
                      segment.protection));
}

void BindImports(const ElfImage& image) {
  for (const ElfImage::Relocation& each : image.relocations) {
    const Import* import = FindImport(each.name);
    if (import == nullptr) continue;  // a weak symbol that is not imported
    void* found = Bind(*import);
    auto* place = reinterpret_cast<void*>(each.place);
    if (each.kind == ElfImage::Relocation::Kind::kCopy) {
      std::memcpy(place, found, each.size);
    } else {
      std::memcpy(place, &found, sizeof found);
    }
  }
}

}  // namespace

ElfImage Examine(const std::filesystem::path& file) {
  if (!kCanSwitch) throw Error("cannot run on this processor");
  if (VIADUCT_SANITIZED != 0)
    throw Error("cannot run in this program, which is built with sanitizers");
  ElfImage image = ReadElf(file, kWanted);
  for (const ElfImage::Relocation& each : image.relocations) {
    if (each.weak) continue;
    const Import* import = FindImport(each.name);
    if (import == nullptr)
      throw Error(fmt::format(
          "needs the function {}, which is not available to guests in this process", each.name));
    Bind(*import);
  }
  return image;
}

ReservedPlace::ReservedPlace(const ElfImage& image, uint64_t memory) {
  const uintptr_t size = RoundUpToPage(image.end() - image.begin());
  const uintptr_t whole = size + 2 * memory + kGap;
  range_ = {image.begin(), image.begin() + whole};
  if (Reserve(range_)) return;
  const std::filesystem::path table = AddressTableOf(image.file);
  if (!std::filesystem::exists(table)) {
    throw Error(
        fmt::format("cannot use its addresses, which are in use in this process, and cannot be "
                    "moved: {} is missing",
                    table.filename().string()));
  }
  for (uintptr_t begin = kLowest; begin + size + kPageSize <= kAddressesEnd; begin += kPlaceStep) {
    range_ = {begin, begin + whole};
    if (Reserve(range_)) return;
  }
  throw Error("finds no free addresses in this process");
}

ReservedPlace::~ReservedPlace() {
  munmap(reinterpret_cast<void*>(range_.begin), range_.end - range_.begin);
}

void LoadImage(ElfImage& image, uintptr_t begin) {
  const UniqueFd file(
      SystemCall("open " + image.file.string(), open(image.file.c_str(), O_RDONLY | O_CLOEXEC)));
  const bool moves = begin != image.begin();
  AddressTable table;
  if (moves) table = ReadAddressTable(AddressTableOf(image.file), image);
  image.MoveTo(begin);
  for (const ElfImage::Segment& segment : image.segments) {
    MapSegment(segment, segment.protection | (moves ? PROT_WRITE : 0), file.get());
  }
  if (moves) {
    MoveAddresses(table, {reinterpret_cast<char*>(begin), image.end() - image.begin()}, begin);
    for (const ElfImage::Segment& segment : image.segments) Protect(segment);
  }
  BindImports(image);
}

}  // namespace viaduct::embed
