#include "guest/embed/address_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "guest/embed/test/small_elf.h"

namespace viaduct::embed {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr uintptr_t kOther = 0x50000000;

template <typename Action>
std::string ErrorOf(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

class AddressTableTest : public testing::Test {
 public:
  AddressTableTest() { std::filesystem::create_directories(folder_); }
  ~AddressTableTest() override { std::filesystem::remove_all(folder_); }

 protected:
  ElfImage Write(const char* name, const SmallElf& small) const {
    const auto file = folder_ / name;
    std::ofstream(file, std::ios::binary | std::ios::trunc)
        .write(reinterpret_cast<const char*>(&small), sizeof small);
    return ReadElf(file, kSmallSymbols);
  }
  std::string ErrorOfComparison(const SmallElf& one, const SmallElf& other) const {
    const ElfImage first = Write("linux", one), second = Write("other", other);
    return ErrorOf([&] { CompareImages(first, second); });
  }

  // Returns an executable that contains an address of the image in 64 bits, an unaligned address of
  // the image in 32 bits, and a number that is not an address.
  static SmallElf WithAddresses(uintptr_t begin) {
    SmallElf small(begin);
    const uint64_t pointer = begin + 16;
    const auto word = static_cast<uint32_t>(begin + 20);
    const uint32_t number = 0x60000020;
    std::memcpy(small.data, &pointer, sizeof pointer);
    std::memcpy(small.data + 9, &word, sizeof word);
    std::memcpy(small.data + 16, &number, sizeof number);
    return small;
  }

  AddressTable Made() const {
    return CompareImages(Write("linux", WithAddresses(kSmallAddress)),
                         Write("other", WithAddresses(kOther)));
  }

  const std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / ("address-table-" + std::to_string(getpid()));
};

TEST_F(AddressTableTest, WhatDiffersBetweenTwoLinksIsAddresses) {
  EXPECT_THAT(
      Made().words,
      ElementsAre(offsetof(SmallElf, segment.p_vaddr), offsetof(SmallElf, segment.p_paddr),
                  offsetof(SmallElf, symbols[1].st_value), offsetof(SmallElf, relocation.r_offset),
                  offsetof(SmallElf, data), offsetof(SmallElf, data) + 9));
}

TEST_F(AddressTableTest, MovedImageIsTheOneThatWasLinkedThere) {
  for (const uintptr_t to : {kOther, uintptr_t{0x04100000}, uintptr_t{0x70000000}}) {
    SmallElf small = WithAddresses(kSmallAddress);
    MoveAddresses(Made(), {reinterpret_cast<char*>(&small), sizeof small}, to);
    const SmallElf expected = WithAddresses(to);
    EXPECT_EQ(std::memcmp(&small, &expected, sizeof small), 0) << to;
  }
}

TEST_F(AddressTableTest, AnImageMovesWithAllItTells) {
  ElfImage image = Write("linux", SmallElf());
  const ElfImage other = Write("other", SmallElf(kOther));
  image.MoveTo(kOther);
  EXPECT_EQ(image.begin(), other.begin());
  EXPECT_EQ(image.end(), other.end());
  EXPECT_EQ(image.symbols, other.symbols);
  EXPECT_EQ(image.relocations.at(0).place, other.relocations.at(0).place);
}

TEST_F(AddressTableTest, IsReadAsItWasWritten) {
  const AddressTable table = Made();
  const auto file = AddressTableOf(folder_ / "linux");
  WriteAddressTable(file, table);
  const AddressTable read = ReadAddressTable(file, ReadElf(folder_ / "linux", kSmallSymbols));
  EXPECT_EQ(read.words, table.words);
  EXPECT_EQ(read.begin, table.begin);
  EXPECT_EQ(read.end, table.end);
}

TEST_F(AddressTableTest, OtherDifferencesAreErrors) {
  SmallElf content = WithAddresses(kOther);
  content.data[40] = 1;
  EXPECT_THAT(ErrorOfComparison(WithAddresses(kSmallAddress), content),
              HasSubstr("differs in more than the addresses from its copy that is linked to other "
                        "addresses, at 0x600001"));
  // Expects an error if one address differs from the same address in the first image by another
  // distance than all other addresses do.
  SmallElf elsewhere = WithAddresses(kOther);
  elsewhere.data[3] = 0x70;
  EXPECT_THAT(ErrorOfComparison(WithAddresses(kSmallAddress), elsewhere),
              HasSubstr("differs in more than the addresses"));
  SmallElf segment = WithAddresses(kOther);
  segment.segment.p_memsz += 8;
  EXPECT_THAT(ErrorOfComparison(WithAddresses(kSmallAddress), segment),
              HasSubstr("have different segments"));
  EXPECT_THAT(ErrorOfComparison(WithAddresses(kOther), WithAddresses(kOther)),
              HasSubstr("not linked to different addresses"));
  EXPECT_THAT(ErrorOfComparison(WithAddresses(kOther + 4096), WithAddresses(kOther)),
              HasSubstr("not linked to different addresses"));
  EXPECT_THAT(ErrorOfComparison(WithAddresses(0x90000000), WithAddresses(kOther)),
              HasSubstr("not linked to addresses below 2 GiB"));
}

TEST_F(AddressTableTest, DamageIsAnError) {
  const AddressTable table = Made();
  const ElfImage image = ReadElf(folder_ / "linux", kSmallSymbols);
  const auto file = AddressTableOf(image.file);
  WriteAddressTable(file, table);
  const std::string whole = ReadNamedFile(file);
  for (size_t size = 0; size < whole.size(); ++size) {
    WriteFile(file.string(), whole.substr(0, size));
    EXPECT_THAT(ErrorOf([&] { ReadAddressTable(file, image); }), HasSubstr("damaged")) << size;
  }
  const auto error_of = [&](const AddressTable& changed) {
    WriteAddressTable(file, changed);
    return ErrorOf([&] { ReadAddressTable(file, image); });
  };
  EXPECT_THAT(error_of({table.begin, table.end + 1, table.words}), HasSubstr("another kernel"));
  EXPECT_THAT(error_of({table.begin + 4096, table.end, table.words}), HasSubstr("another kernel"));
  // Expects an error for a table whose words overlap.
  EXPECT_THAT(error_of({table.begin, table.end, {8, 10}}), HasSubstr("damaged"));
  EXPECT_THAT(error_of({table.begin, table.end, {12, 4}}), HasSubstr("damaged"));
  EXPECT_THAT(error_of({table.begin, table.end, {sizeof(SmallElf) - 3}}), HasSubstr("damaged"));
  EXPECT_THAT(error_of({table.begin, table.end, {~0U}}), HasSubstr("damaged"));
  EXPECT_EQ(error_of(table), "");
}

TEST_F(AddressTableTest, TableOfAnotherBuildOfTheSameSizeIsAnError) {
  AddressTable table = Made();
  table.words.push_back(offsetof(SmallElf, data) + 40);  // the word there is 0, not an address
  SmallElf small = WithAddresses(kSmallAddress);
  EXPECT_THAT(ErrorOf([&] {
                MoveAddresses(table, {reinterpret_cast<char*>(&small), sizeof small}, kOther);
              }),
              HasSubstr("another kernel"));
  small = WithAddresses(kSmallAddress);
  table.words.back() = sizeof small - 2;
  EXPECT_THAT(ErrorOf([&] {
                MoveAddresses(table, {reinterpret_cast<char*>(&small), sizeof small}, kOther);
              }),
              HasSubstr("beyond its end"));
}

TEST_F(AddressTableTest, MissingTableIsAnError) {
  const ElfImage image = Write("linux", SmallElf());
  EXPECT_THAT(ErrorOf([&] { ReadAddressTable(AddressTableOf(image.file), image); }),
              HasSubstr("linux.addresses"));
}

}  // namespace
}  // namespace viaduct::embed
