// A kernel's executable as its file describes it: the memory of its parts, and its imports.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace viaduct::embed {

inline constexpr uintptr_t kPageSize = 4096;
inline constexpr uintptr_t RoundUpToPage(uintptr_t address) {
  return (address + kPageSize - 1) / kPageSize * kPageSize;
}

struct ElfImage {
  // A part of the file that is in memory (elf(5), PT_LOAD).
  struct Segment {
    uintptr_t address = 0;  // need not be the start of a page
    size_t memory = 0;      // bytes; those after the file's are zero
    uint64_t offset = 0;    // position in the file
    size_t stored = 0;      // bytes in the file
    int protection = 0;     // PROT_*
  };
  // A word, or an object of `size` bytes, whose value another file provides (elf(5), Elf64_Rela).
  struct Relocation {
    enum class Kind { kAddress, kCopy };
    Kind kind = Kind::kAddress;
    uintptr_t place = 0;
    size_t size = 0;  // the size of the object to copy
    std::string name;
    bool weak = false;  // may be missing
  };

  std::filesystem::path file;
  std::vector<Segment> segments;  // sorted by address
  std::vector<Relocation> relocations;
  uintptr_t initializers = 0;  // the address of the table of functions to be called before main()
  size_t initializers_count = 0;
  std::map<std::string, uintptr_t> symbols;  // only the `wanted` ones

  // Parts of memory that describe the file, such as its checksum, and that the program does not use
  // (elf(5), PT_NOTE): first byte, number of bytes.
  std::vector<std::pair<uintptr_t, size_t>> notes;

  uintptr_t begin() const;  // the address of the first page
  uintptr_t end() const;    // the address behind the last byte
  // Changes all addresses above to those of the image when its first page is at `begin`; the
  // image's bytes are not changed (see AddressTable).
  void MoveTo(uintptr_t begin);
};

// Reads the file. Throws Error with one line when this is not an executable of x86-64 that is
// linked to fixed addresses, when it is damaged, when it has something that a loader must know and
// that this one does not, or when one of `wanted` is missing among its symbols.
ElfImage ReadElf(const std::filesystem::path& file, std::span<const char* const> wanted);

}  // namespace viaduct::embed
