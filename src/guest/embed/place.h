// The place of a guest in this process's memory: the range of its addresses.
#pragma once

#include <cstdint>
#include <filesystem>

#include "guest/embed/context.h"
#include "guest/embed/elf_image.h"

namespace viaduct::embed {

// The symbols that every image must have: its entry function (arch/um/os-Linux/main.c), and the
// variable that holds its current time (arch/um/kernel/time.c).
inline constexpr const char* kMainSymbol = "main";
inline constexpr const char* kClockSymbol = "time_travel_time";

// Reads an image and checks that it has everything on which src/guest/embed relies. Throws Error.
// The error's message names the missing part; the caller appends it to the image's name.
ElfImage Examine(const std::filesystem::path& file);

// A range of addresses of this process that is reserved while the object exists. The constructor
// maps nothing into the range.
class ReservedPlace {
 public:
  // Reserves the addresses of an image with `memory` bytes of memory and its vmalloc() mappings.
  // These are the addresses to which the image is linked or, if they are taken and the image has an
  // address table, the lowest free place below 2 GiB. Throws Error if there is no such place; the
  // caller appends the error's message to the image's name.
  ReservedPlace(const ElfImage& image, uint64_t memory);
  ReservedPlace(const ReservedPlace&) = delete;
  ReservedPlace& operator=(const ReservedPlace&) = delete;
  ~ReservedPlace();

  Range range() const { return range_; }

 private:
  Range range_;
};

// Loads an image at `begin`, where addresses are reserved for the image, and binds its imports.
// `image` then describes the loaded image. Throws SystemError, or Error with a message that the
// caller appends to the image's name.
void LoadImage(ElfImage& image, uintptr_t begin);

}  // namespace viaduct::embed
