// A kernel's executable as its ELF file describes it: the memory of its segments, and its imports.
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
  // A part of the file that is mapped into memory (elf(5), PT_LOAD).
  struct Segment {
    uintptr_t address = 0;  // need not be the start of a page
    size_t memory = 0;      // bytes in memory; bytes after the first `stored` are zero
    uint64_t offset = 0;    // position in the file
    size_t stored = 0;      // bytes in the file
    int protection = 0;     // PROT_*
  };
  // An address word, or an object of `size` bytes, whose value another file provides (elf(5),
  // Elf64_Rela).
  struct Relocation {
    enum class Kind { kAddress, kCopy };
    Kind kind = Kind::kAddress;
    uintptr_t place = 0;
    size_t size = 0;  // the size of the object to copy, in bytes
    std::string name;
    bool weak = false;  // true: the symbol may be missing
  };

  std::filesystem::path file;
  std::vector<Segment> segments;  // sorted by address
  std::vector<Relocation> relocations;
  uintptr_t initializers = 0;  // the address of the table of functions to be called before main()
  size_t initializers_count = 0;
  std::map<std::string, uintptr_t> symbols;  // only the symbols in `wanted` of ReadElf()

  // The parts of memory that describe the file, such as its checksum, and that the program does not
  // use (elf(5), PT_NOTE), each as first byte and number of bytes.
  std::vector<std::pair<uintptr_t, size_t>> notes;

  uintptr_t begin() const;  // the address of the first page
  uintptr_t end() const;    // the address after the last byte
  // Changes all addresses in this object to the addresses of the image with its first page at
  // `begin`; the bytes of the image are not changed (AddressTable lists the addresses that these
  // bytes contain).
  void MoveTo(uintptr_t begin);
};

// Reads an ELF file. Throws Error, with a message of one line, if the file is not an x86-64
// executable that is linked to fixed addresses, if it is damaged, if it has a feature that a loader
// must handle and this loader does not, or if one of the symbols in `wanted` is missing.
ElfImage ReadElf(const std::filesystem::path& file, std::span<const char* const> wanted);

}  // namespace viaduct::embed
