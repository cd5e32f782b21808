// The place of a guest in this process's memory.
#pragma once

#include <cstdint>
#include <filesystem>

#include "guest/embed/context.h"
#include "guest/embed/elf_image.h"

namespace viaduct::embed {

// Symbols of every image: its entry (arch/um/os-Linux/main.c), its present time
// (arch/um/kernel/time.c).
inline constexpr const char* kMainSymbol = "main";
inline constexpr const char* kClockSymbol = "time_travel_time";

// Reads an image and checks what this folder relies on. Throws Error that names what is missing, to
// follow the image's name.
ElfImage Examine(const std::filesystem::path& file);

// Addresses of this process that are reserved while it exists. Nothing is mapped there yet.
class ReservedPlace {
 public:
  // Reserves the place of an image with this much memory (bytes) and its addresses for vmalloc():
  // the addresses to which it is linked, or, when they are taken and it has a table of its
  // addresses, the lowest place below 2 GiB. Throws Error, to follow the image's name, when there
  // is none.
  ReservedPlace(const ElfImage& image, uint64_t memory);
  ReservedPlace(const ReservedPlace&) = delete;
  ReservedPlace& operator=(const ReservedPlace&) = delete;
  ~ReservedPlace();

  Range range() const { return range_; }

 private:
  Range range_;
};

// Loads an image at `begin`, in addresses that are reserved for it, and binds its imports. `image`
// then describes what is loaded. Throws Error, to follow the image's name, or SystemError.
void LoadImage(ElfImage& image, uintptr_t begin);

}  // namespace viaduct::embed
