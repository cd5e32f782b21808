// The files of src/guest/image that a kernel build needs, compiled into the program
// (build_inputs.cc.in).
#pragma once

#include <span>
#include <string_view>

namespace viaduct::guest {

struct Patch {
  std::string_view name, text;
};

// Returns the text of kernel.config.
std::string_view ConfigText();
// Returns the patches in patches/*.patch, in the order of their file names.
std::span<const Patch> Patches();

}  // namespace viaduct::guest
