// A kernel's executable as its file describes it: what of it lies where in memory, and what it
// wants of others.
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
    uintptr_t address = 0;  // begins somewhere in a page
    size_t memory = 0;      // bytes; those behind the file's are zero
    uint64_t offset = 0;    // in the file
    size_t stored = 0;      // bytes in the file
    int protection = 0;     // PROT_*
  };
  // A word, or an object of `size` bytes, that is another's (elf(5), Elf64_Rela).
  struct Relocation {
    enum class Kind { kAddress, kCopy };
    Kind kind = Kind::kAddress;
    uintptr_t place = 0;
    size_t size = 0;  // of the object to copy
    std::string name;
    bool weak = false;  // may be missing
  };

  std::filesystem::path file;
  std::vector<Segment> segments;  // in the order of their addresses
  std::vector<Relocation> relocations;
  uintptr_t initializers = 0;  // the address of its table of functions to be called before main()
  size_t initializers_count = 0;
  std::map<std::string, uintptr_t> symbols;  // those that were asked for

  // Parts of memory that describe the file, such as its checksum, and that it does not use (elf(5),
  // PT_NOTE): first byte, bytes.
  std::vector<std::pair<uintptr_t, size_t>> notes;

  uintptr_t begin() const;  // of its first page
  uintptr_t end() const;    // behind its last byte
  // All addresses above become those of the image when its first page is at `begin`, whose bytes
  // are not changed by that (AddressTable).
  void MoveTo(uintptr_t begin);
};

// Reads it. Throws Error with one line when this is not an executable of x86-64 that is linked to
// fixed addresses, when it is damaged, when it has something that a loader would have to know and
// that this one does not, or when it has not one of `wanted` among its symbols.
ElfImage ReadElf(const std::filesystem::path& file, std::span<const char* const> wanted);

}  // namespace viaduct::embed
