// A minimal executable for the tests of src/guest/embed.
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace viaduct::embed {

inline constexpr uintptr_t kSmallAddress = 0x60000000;
inline constexpr const char* kSmallSymbols[] = {"main"};

// An ELF executable with one segment, one relocation and one symbol.
struct SmallElf {
  Elf64_Ehdr header{};
  Elf64_Phdr segment{};
  Elf64_Shdr sections[4]{};  // an empty section, symbols, names, relocations
  Elf64_Sym symbols[2]{};
  Elf64_Rela relocation{};
  char names[16] = "\0main";
  char data[64]{};

  explicit SmallElf(uintptr_t address = kSmallAddress) {
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_type = ET_EXEC;
    header.e_machine = EM_X86_64;
    header.e_phoff = offsetof(SmallElf, segment);
    header.e_phnum = 1;
    header.e_shoff = offsetof(SmallElf, sections);
    header.e_shnum = 4;
    segment = {PT_LOAD, PF_R | PF_W, 0, address, address, sizeof(SmallElf), sizeof(SmallElf) + 100,
               0};
    sections[1].sh_type = SHT_SYMTAB;
    sections[1].sh_offset = offsetof(SmallElf, symbols);
    sections[1].sh_size = sizeof symbols;
    sections[1].sh_link = 2;
    sections[2].sh_type = SHT_STRTAB;
    sections[2].sh_offset = offsetof(SmallElf, names);
    sections[2].sh_size = sizeof names;
    sections[3].sh_type = SHT_RELA;
    sections[3].sh_flags = SHF_ALLOC;
    sections[3].sh_offset = offsetof(SmallElf, relocation);
    sections[3].sh_size = sizeof relocation;
    sections[3].sh_link = 1;
    symbols[1].st_name = 1;
    symbols[1].st_shndx = 3;
    symbols[1].st_value = address + 8;
    relocation.r_offset = address + offsetof(SmallElf, data);
    relocation.r_info = ELF64_R_INFO(1, R_X86_64_JUMP_SLOT);
  }
};

}  // namespace viaduct::embed
