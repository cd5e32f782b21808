// The table of the places in a kernel's executable that hold addresses of the executable itself.
// The executable is linked to fixed addresses; the table allows loading the executable at other
// addresses, which is necessary for several kernels in one process.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "guest/embed/elf_image.h"

namespace viaduct::embed {

// The upper limit of an image's addresses: its code has signed addresses of 32 bits (the small code
// model of the System V ABI, AMD64 supplement). So each address is a word of 32 bits, even where
// the address is stored in 64 bits.
inline constexpr uintptr_t kAddressesEnd = uintptr_t{1} << 31;

// The addresses in an image that refer to the image itself. An address may also point to the page
// after the image's last byte.
struct AddressTable {
  uintptr_t begin = 0, end = 0;  // the addresses to which the image is linked
  // The offsets of the address words from the image's first page, ascending and without overlap.
  std::vector<uint32_t> words;
};

// Returns the path of an executable's address table: a file in the executable's folder.
std::filesystem::path AddressTableOf(const std::filesystem::path& image);

// Compares two executables that were linked from the same objects to two addresses, which differ
// only in the uppermost of their four bytes. So every difference between the executables must be an
// address. Throws Error if there are other differences. The error's message is one line, which the
// caller appends to the name of the first executable.
AddressTable CompareImages(const ElfImage& one, const ElfImage& other);

// Writes a table into a file; throws SystemError if the file cannot be written.
void WriteAddressTable(const std::filesystem::path& file, const AddressTable& table);
// Reads the table of an image. Throws Error, with a message of one line, if the file is missing,
// damaged, or belongs to another image.
AddressTable ReadAddressTable(const std::filesystem::path& file, const ElfImage& image);

// Changes the addresses in an image's memory to the addresses of the same image with its first page
// at `to`. Throws Error if one of the words is not an address of the image; in that case, some of
// the addresses have already been changed.
void MoveAddresses(const AddressTable& table, std::span<char> image, uintptr_t to);

}  // namespace viaduct::embed
