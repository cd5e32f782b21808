// The table of the places in a kernel's executable that hold addresses of the executable itself.
// The executable is linked to fixed addresses; with this table it can be loaded elsewhere, which
// several kernels in one process need.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "guest/embed/elf_image.h"

namespace viaduct::embed {

// The limit of an image's addresses, because its code has addresses of 32 bits with a sign (the
// small code model of the System V ABI, AMD64 supplement). So each address is a word of 32 bits,
// also where it is stored in 64.
inline constexpr uintptr_t kAddressesEnd = uintptr_t{1} << 31;

// The addresses in an image. An address may also point to the page behind the image's last byte.
struct AddressTable {
  uintptr_t begin = 0, end = 0;  // the range to which the image is linked
  std::vector<uint32_t> words;   // offsets from the image's first page, ascending; none overlap
};

// Returns the path of an executable's table: next to the executable.
std::filesystem::path AddressTableOf(const std::filesystem::path& image);

// Compares two executables that were linked from the same objects to two addresses, of which only
// the uppermost byte (of four) differs: all differences are addresses. Throws Error, with one line
// that follows the name of the first, when that is not so.
AddressTable CompareImages(const ElfImage& one, const ElfImage& other);

// Throws SystemError when it cannot be written.
void WriteAddressTable(const std::filesystem::path& file, const AddressTable& table);
// Throws Error, with one line, when it is missing, damaged, or not of this image.
AddressTable ReadAddressTable(const std::filesystem::path& file, const ElfImage& image);

// Changes the addresses in an image's memory to those of an image whose first page is at `to`.
// Throws Error, and has changed a part of them, when one is no address of the image.
void MoveAddresses(const AddressTable& table, std::span<char> image, uintptr_t to);

}  // namespace viaduct::embed
