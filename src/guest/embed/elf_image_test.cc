#include "guest/embed/elf_image.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

#include "base/error.h"
#include "guest/embed/test/small_elf.h"

namespace viaduct::embed {
namespace {

using testing::HasSubstr;

class ElfImageTest : public testing::Test {
 protected:
  void TearDown() override { unlink(file_.c_str()); }

  void Write(const void* bytes, size_t size) const {
    std::ofstream(file_, std::ios::binary | std::ios::trunc)
        .write(static_cast<const char*>(bytes), static_cast<std::streamsize>(size));
  }
  // Returns the error message of reading `small` as an ELF file; "" if there is no error.
  std::string ErrorOf(const SmallElf& small) const {
    Write(&small, sizeof small);
    return ErrorOf();
  }
  std::string ErrorOf() const {
    try {
      ReadElf(file_, kSmallSymbols);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  const std::string file_ = testing::TempDir() + "elf-image-" + std::to_string(getpid());
};

TEST_F(ElfImageTest, TellsWhatLiesWhere) {
  const SmallElf small;
  Write(&small, sizeof small);
  const ElfImage image = ReadElf(file_, kSmallSymbols);
  EXPECT_EQ(image.begin(), kSmallAddress);
  EXPECT_EQ(image.end(), kSmallAddress + sizeof(SmallElf) + 100);
  ASSERT_EQ(image.segments.size(), 1U);
  EXPECT_EQ(image.segments[0].stored, sizeof(SmallElf));
  EXPECT_EQ(image.segments[0].protection, PROT_READ | PROT_WRITE);
  EXPECT_EQ(image.symbols.at("main"), kSmallAddress + 8);
  ASSERT_EQ(image.relocations.size(), 1U);
  EXPECT_EQ(image.relocations[0].name, "main");
  EXPECT_EQ(image.relocations[0].place, kSmallAddress + offsetof(SmallElf, data));
}

TEST_F(ElfImageTest, SaysWhatItCannotLoad) {
  SmallElf other;
  other.header.e_machine = EM_AARCH64;
  EXPECT_THAT(ErrorOf(other), HasSubstr("not an x86-64 executable"));
  SmallElf movable;
  movable.header.e_type = ET_DYN;
  EXPECT_THAT(ErrorOf(movable), HasSubstr("not linked to fixed addresses"));
  SmallElf threads;
  threads.segment.p_type = PT_TLS;
  EXPECT_THAT(ErrorOf(threads), HasSubstr("PT_TLS"));
  SmallElf relative;
  relative.relocation.r_info = ELF64_R_INFO(1, R_X86_64_RELATIVE);
  EXPECT_THAT(ErrorOf(relative), HasSubstr("relocation of unsupported kind 8"));
  SmallElf outside;
  outside.relocation.r_offset = kSmallAddress - 8;
  EXPECT_THAT(ErrorOf(outside), HasSubstr("outside of its data"));
  SmallElf between;
  between.segment.p_offset = 8;
  between.segment.p_filesz = 8;
  EXPECT_THAT(ErrorOf(between), HasSubstr("not aligned to pages"));
  SmallElf nameless;
  nameless.names[1] = 'M';
  EXPECT_THAT(ErrorOf(nameless), HasSubstr("has no symbol main"));
  SmallElf empty;
  empty.header.e_phnum = 0;
  EXPECT_THAT(ErrorOf(empty), HasSubstr("no segments to load"));
}

TEST_F(ElfImageTest, DamageIsAnError) {
  SmallElf table;
  table.header.e_shoff = uint64_t{1} << 60;
  EXPECT_THAT(ErrorOf(table), HasSubstr("damaged"));
  SmallElf link;
  link.sections[3].sh_link = 9;
  EXPECT_THAT(ErrorOf(link), HasSubstr("damaged"));
  SmallElf symbol;
  symbol.relocation.r_info = ELF64_R_INFO(77, R_X86_64_JUMP_SLOT);
  EXPECT_THAT(ErrorOf(symbol), HasSubstr("damaged"));
  SmallElf name;
  name.symbols[1].st_name = 1000;
  EXPECT_THAT(ErrorOf(name), HasSubstr("damaged"));
  SmallElf endless;
  endless.sections[2].sh_size = 4;  // the last of the names' 4 bytes is not zero
  EXPECT_THAT(ErrorOf(endless), HasSubstr("damaged"));
}

TEST_F(ElfImageTest, EveryPartOfAFileIsAnError) {
  const SmallElf small;
  for (size_t size = 0; size < sizeof small; ++size) {
    Write(&small, size);
    EXPECT_NE(ErrorOf(), "") << size;
  }
}

TEST_F(ElfImageTest, MissingFileIsAnError) { EXPECT_THAT(ErrorOf(), HasSubstr("open ")); }

}  // namespace
}  // namespace viaduct::embed
