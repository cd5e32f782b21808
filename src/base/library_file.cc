#include "base/library_file.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "base/file.h"

namespace viaduct {
namespace {

// Returns the minimum number of bytes that an ELF file must have to be loaded (elf(5)): its headers
// and the mapped parts. 0 if the file is not a 64-bit ELF file.
uint64_t BytesOfElf(std::ifstream& file) {
  Elf64_Ehdr header{};
  file.read(reinterpret_cast<char*>(&header), sizeof header);
  const bool is_elf = file && std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
                      header.e_ident[EI_CLASS] == ELFCLASS64 &&
                      header.e_phentsize == sizeof(Elf64_Phdr);
  if (!is_elf) return 0;
  uint64_t bytes = header.e_shoff + uint64_t{header.e_shnum} * header.e_shentsize;
  file.seekg(static_cast<std::streamoff>(header.e_phoff));
  for (int i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr part{};
    file.read(reinterpret_cast<char*>(&part), sizeof part);
    if (!file) return UINT64_MAX;
    if (part.p_type == PT_LOAD) bytes = std::max(bytes, part.p_offset + part.p_filesz);
  }
  return bytes;
}

}  // namespace

void CheckIsWholeLibrary(const std::string& path) {
  std::error_code error;
  // Checks the type first: opening a FIFO blocks until a process opens the FIFO for writing, also
  // in dlopen(3).
  if (std::filesystem::exists(path, error)) CheckIsRegular(path);
  std::ifstream file(path, std::ios::binary);
  const uint64_t there = std::filesystem::file_size(path, error);
  if (!file || error) return;  // dlopen(3) reports the error
  if (BytesOfElf(file) > there) {
    throw UsageError(fmt::format(
        "{} is incomplete (cut off after {} bytes); compile the file again", path, there));
  }
}

}  // namespace viaduct
