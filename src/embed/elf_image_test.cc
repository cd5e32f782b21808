#include "embed/elf_image.h"

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

#include "base/error.h"

namespace viaduct::embed {
namespace {

using testing::HasSubstr;

constexpr uintptr_t kAddress = 0x60000000;
constexpr const char* kWanted[] = {"main"};

// An executable with one segment, one relocation and one symbol, as small as can be.
struct Small {
  Elf64_Ehdr header{};
  Elf64_Phdr segment{};
  Elf64_Shdr sections[4]{};  // none, symbols, names, relocations
  Elf64_Sym symbols[2]{};
  Elf64_Rela relocation{};
  char names[16] = "\0main";
  char data[64]{};

  Small() {
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_type = ET_EXEC;
    header.e_machine = EM_X86_64;
    header.e_phoff = offsetof(Small, segment);
    header.e_phnum = 1;
    header.e_shoff = offsetof(Small, sections);
    header.e_shnum = 4;
    segment = {PT_LOAD, PF_R | PF_W, 0, kAddress, kAddress, sizeof(Small), sizeof(Small) + 100, 0};
    sections[1].sh_type = SHT_SYMTAB;
    sections[1].sh_offset = offsetof(Small, symbols);
    sections[1].sh_size = sizeof symbols;
    sections[1].sh_link = 2;
    sections[2].sh_type = SHT_STRTAB;
    sections[2].sh_offset = offsetof(Small, names);
    sections[2].sh_size = sizeof names;
    sections[3].sh_type = SHT_RELA;
    sections[3].sh_flags = SHF_ALLOC;
    sections[3].sh_offset = offsetof(Small, relocation);
    sections[3].sh_size = sizeof relocation;
    sections[3].sh_link = 1;
    symbols[1].st_name = 1;
    symbols[1].st_shndx = 3;
    symbols[1].st_value = kAddress + 8;
    relocation.r_offset = kAddress + offsetof(Small, data);
    relocation.r_info = ELF64_R_INFO(1, R_X86_64_JUMP_SLOT);
  }
};

class ElfImageTest : public testing::Test {
 protected:
  void TearDown() override { unlink(file_.c_str()); }

  void Write(const void* bytes, size_t size) const {
    std::ofstream(file_, std::ios::binary | std::ios::trunc)
        .write(static_cast<const char*>(bytes), static_cast<std::streamsize>(size));
  }
  // What is wrong with it; "" if nothing.
  std::string ErrorOf(const Small& small) const {
    Write(&small, sizeof small);
    return ErrorOf();
  }
  std::string ErrorOf() const {
    try {
      ReadElf(file_, kWanted);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  const std::string file_ = testing::TempDir() + "elf-image-" + std::to_string(getpid());
};

TEST_F(ElfImageTest, TellsWhatLiesWhere) {
  const Small small;
  Write(&small, sizeof small);
  const ElfImage image = ReadElf(file_, kWanted);
  EXPECT_EQ(image.begin(), kAddress);
  EXPECT_EQ(image.end(), kAddress + sizeof(Small) + 100);
  ASSERT_EQ(image.segments.size(), 1U);
  EXPECT_EQ(image.segments[0].stored, sizeof(Small));
  EXPECT_EQ(image.segments[0].protection, PROT_READ | PROT_WRITE);
  EXPECT_EQ(image.symbols.at("main"), kAddress + 8);
  ASSERT_EQ(image.relocations.size(), 1U);
  EXPECT_EQ(image.relocations[0].name, "main");
  EXPECT_EQ(image.relocations[0].place, kAddress + offsetof(Small, data));
}

TEST_F(ElfImageTest, SaysWhatItCannotLoad) {
  Small other;
  other.header.e_machine = EM_AARCH64;
  EXPECT_THAT(ErrorOf(other), HasSubstr("not an executable of x86-64"));
  Small movable;
  movable.header.e_type = ET_DYN;
  EXPECT_THAT(ErrorOf(movable), HasSubstr("not linked to fixed addresses"));
  Small threads;
  threads.segment.p_type = PT_TLS;
  EXPECT_THAT(ErrorOf(threads), HasSubstr("PT_TLS"));
  Small relative;
  relative.relocation.r_info = ELF64_R_INFO(1, R_X86_64_RELATIVE);
  EXPECT_THAT(ErrorOf(relative), HasSubstr("relocation of kind 8"));
  Small outside;
  outside.relocation.r_offset = kAddress - 8;
  EXPECT_THAT(ErrorOf(outside), HasSubstr("outside of its data"));
  Small between;
  between.segment.p_offset = 8;
  between.segment.p_filesz = 8;
  EXPECT_THAT(ErrorOf(between), HasSubstr("between pages"));
  Small nameless;
  nameless.names[1] = 'M';
  EXPECT_THAT(ErrorOf(nameless), HasSubstr("has no symbol main"));
  Small empty;
  empty.header.e_phnum = 0;
  EXPECT_THAT(ErrorOf(empty), HasSubstr("nothing to load"));
}

TEST_F(ElfImageTest, DamageIsAnError) {
  Small table;
  table.header.e_shoff = uint64_t{1} << 60;
  EXPECT_THAT(ErrorOf(table), HasSubstr("damaged"));
  Small link;
  link.sections[3].sh_link = 9;
  EXPECT_THAT(ErrorOf(link), HasSubstr("damaged"));
  Small symbol;
  symbol.relocation.r_info = ELF64_R_INFO(77, R_X86_64_JUMP_SLOT);
  EXPECT_THAT(ErrorOf(symbol), HasSubstr("damaged"));
  Small name;
  name.symbols[1].st_name = 1000;
  EXPECT_THAT(ErrorOf(name), HasSubstr("damaged"));
  Small endless;
  endless.sections[2].sh_size = 4;  // the names do not end there
  EXPECT_THAT(ErrorOf(endless), HasSubstr("damaged"));
}

TEST_F(ElfImageTest, EveryPartOfAFileIsAnError) {
  const Small small;
  for (size_t size = 0; size < sizeof small; ++size) {
    Write(&small, size);
    EXPECT_NE(ErrorOf(), "") << size;
  }
}

TEST_F(ElfImageTest, MissingFileIsAnError) { EXPECT_THAT(ErrorOf(), HasSubstr("open ")); }

}  // namespace
}  // namespace viaduct::embed
