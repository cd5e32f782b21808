#include "guest/embed/elf_image.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/fd.h"

namespace viaduct::embed {
namespace {

// The bytes of an ELF file; every access is checked against the file's size.
class Bytes {
 public:
  explicit Bytes(const std::filesystem::path& file) {
    const UniqueFd fd(
        SystemCall("open " + file.string(), open(file.c_str(), O_RDONLY | O_CLOEXEC)));
    struct stat about;
    SystemCall("fstat " + file.string(), fstat(fd.get(), &about));
    size_ = static_cast<size_t>(about.st_size);
    if (size_ == 0) throw Error("is empty");
    start_ = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, fd.get(), 0);
    if (start_ == MAP_FAILED) throw SystemError("map " + file.string(), errno);
  }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;
  ~Bytes() { munmap(start_, size_); }

  size_t size() const { return size_; }
  template <typename T>
  std::span<const T> At(uint64_t offset, uint64_t count) const {
    if (offset % alignof(T) != 0 || offset > size_ || count > (size_ - offset) / sizeof(T)) {
      throw Error("is damaged: a table lies outside of the file");
    }
    const char* at = static_cast<const char*>(start_) + offset;
    return {reinterpret_cast<const T*>(at), static_cast<size_t>(count)};
  }

 private:
  void* start_ = nullptr;
  size_t size_ = 0;
};

int Protection(uint32_t flags) {
  return ((flags & PF_R) != 0 ? PROT_READ : 0) | ((flags & PF_W) != 0 ? PROT_WRITE : 0) |
         ((flags & PF_X) != 0 ? PROT_EXEC : 0);
}

class Reader {
 public:
  Reader(const std::filesystem::path& file, std::span<const char* const> wanted)
      : bytes_(file), wanted_(wanted), header_(bytes_.At<Elf64_Ehdr>(0, 1).front()) {
    image_.file = file;
  }

  ElfImage Read() {
    CheckHeader();
    for (const auto& header : bytes_.At<Elf64_Phdr>(header_.e_phoff, header_.e_phnum)) {
      ReadSegment(header);
    }
    if (image_.segments.empty()) throw Error("has no segments to load");
    sections_ = bytes_.At<Elf64_Shdr>(header_.e_shoff, header_.e_shnum);
    for (const Elf64_Shdr& section : sections_) ReadSection(section);
    for (const char* name : wanted_) {
      if (!image_.symbols.contains(name)) throw Error(fmt::format("has no symbol {}", name));
    }
    return std::move(image_);
  }

 private:
  void CheckHeader() const {
    if (std::memcmp(header_.e_ident, ELFMAG, SELFMAG) != 0 ||
        header_.e_ident[EI_CLASS] != ELFCLASS64 || header_.e_machine != EM_X86_64) {
      throw Error("is not an x86-64 executable");
    }
    if (header_.e_type != ET_EXEC) throw Error("is not linked to fixed addresses");
  }

  void ReadSegment(const Elf64_Phdr& header) {
    if (header.p_type == PT_TLS) throw Error("has thread-local variables (PT_TLS)");
    if (header.p_type == PT_NOTE) image_.notes.emplace_back(header.p_vaddr, header.p_memsz);
    if (header.p_type != PT_LOAD) return;
    const ElfImage::Segment segment{header.p_vaddr, header.p_memsz, header.p_offset,
                                    header.p_filesz, Protection(header.p_flags)};
    bytes_.At<char>(segment.offset, segment.stored);
    const bool follows =
        image_.segments.empty() || segment.address / kPageSize * kPageSize >= image_.end();
    if (segment.stored > segment.memory ||
        segment.address % kPageSize != segment.offset % kPageSize ||
        segment.memory > (uintptr_t{1} << 46) - segment.address || !follows) {
      throw Error("has segments that overlap or are not aligned to pages");
    }
    image_.segments.push_back(segment);
  }

  void ReadSection(const Elf64_Shdr& section) {
    if (section.sh_type == SHT_REL) throw Error("has relocations without addends");
    if (section.sh_type == SHT_RELA && (section.sh_flags & SHF_ALLOC) != 0)
      ReadRelocations(section);
    if (section.sh_type == SHT_SYMTAB) ReadSymbols(section);
    if (section.sh_type == SHT_PREINIT_ARRAY)
      throw Error("has pre-initialization functions (SHT_PREINIT_ARRAY)");
    if (section.sh_type == SHT_INIT_ARRAY) {
      image_.initializers = section.sh_addr;
      image_.initializers_count = section.sh_size / sizeof(uintptr_t);
    }
  }

  const Elf64_Shdr& Linked(const Elf64_Shdr& section) const {
    if (section.sh_link >= sections_.size())
      throw Error("is damaged: a section links to a section that does not exist");
    return sections_[section.sh_link];
  }

  // Returns the names of a symbol table's symbols; throws Error unless the table ends with a zero
  // byte.
  std::string_view Names(const Elf64_Shdr& table) const {
    const Elf64_Shdr& section = Linked(table);
    const auto names = bytes_.At<char>(section.sh_offset, section.sh_size);
    if (names.empty() || names.back() != 0)
      throw Error("is damaged: its string table is not terminated");
    return {names.data(), names.size()};
  }
  static const char* NameIn(std::string_view names, const Elf64_Sym& symbol) {
    if (symbol.st_name >= names.size())
      throw Error("is damaged: the name of a symbol is outside the string table");
    return names.data() + symbol.st_name;
  }

  void ReadRelocations(const Elf64_Shdr& section) {
    const Elf64_Shdr& table = Linked(section);
    const auto symbols = bytes_.At<Elf64_Sym>(table.sh_offset, table.sh_size / sizeof(Elf64_Sym));
    const std::string_view names = Names(table);
    for (const auto& entry :
         bytes_.At<Elf64_Rela>(section.sh_offset, section.sh_size / sizeof(Elf64_Rela))) {
      const uint64_t number = ELF64_R_SYM(entry.r_info), type = ELF64_R_TYPE(entry.r_info);
      if (number >= symbols.size())
        throw Error("is damaged: a relocation refers to a symbol that does not exist");
      const Elf64_Sym& symbol = symbols[number];
      ElfImage::Relocation relocation;
      relocation.place = entry.r_offset;
      relocation.name = NameIn(names, symbol);
      relocation.weak = ELF64_ST_BIND(symbol.st_info) == STB_WEAK;
      if (type == R_X86_64_COPY) {
        relocation.kind = ElfImage::Relocation::Kind::kCopy;
        relocation.size = symbol.st_size;
      } else if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) {
        throw Error(fmt::format("has a relocation of unsupported kind {}", type));
      }
      const size_t size = std::max(relocation.size, sizeof(uintptr_t));
      if (!IsWritable(relocation.place, size)) {
        throw Error("has a relocation outside of its data");
      }
      image_.relocations.push_back(std::move(relocation));
    }
  }

  bool IsWritable(uintptr_t place, size_t size) const {
    return std::any_of(image_.segments.begin(), image_.segments.end(), [&](const auto& segment) {
      return (segment.protection & PROT_WRITE) != 0 && place >= segment.address &&
             place - segment.address <= segment.memory &&
             size <= segment.memory - (place - segment.address);
    });
  }

  void ReadSymbols(const Elf64_Shdr& section) {
    const std::string_view names = Names(section);
    for (const auto& symbol :
         bytes_.At<Elf64_Sym>(section.sh_offset, section.sh_size / sizeof(Elf64_Sym))) {
      if (symbol.st_shndx == SHN_UNDEF || symbol.st_name == 0) continue;
      const char* found = NameIn(names, symbol);
      for (const char* name : wanted_) {
        if (std::strcmp(found, name) == 0) image_.symbols.emplace(name, symbol.st_value);
      }
    }
  }

  Bytes bytes_;
  std::span<const char* const> wanted_;
  const Elf64_Ehdr header_;
  std::span<const Elf64_Shdr> sections_;
  ElfImage image_;
};

}  // namespace

uintptr_t ElfImage::begin() const { return segments.front().address / kPageSize * kPageSize; }
uintptr_t ElfImage::end() const { return segments.back().address + segments.back().memory; }

void ElfImage::MoveTo(uintptr_t begin) {
  const uintptr_t by = begin - this->begin();  // modulo 2^64 if it is negative
  for (Segment& segment : segments) segment.address += by;
  for (Relocation& relocation : relocations) relocation.place += by;
  for (auto& [address, size] : notes) address += by;
  for (auto& [name, address] : symbols) address += by;
  initializers += by;
}

ElfImage ReadElf(const std::filesystem::path& file, std::span<const char* const> wanted) {
  return Reader(file, wanted).Read();
}

}  // namespace viaduct::embed
