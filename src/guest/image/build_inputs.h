// The files of this folder that a build needs, compiled in (build_inputs.cc.in).
#pragma once

#include <span>
#include <string_view>

namespace viaduct::guest {

struct Patch {
  std::string_view name, text;
};

// Returns kernel.config.
std::string_view ConfigText();
// Returns patches/*.patch, in the order of their names.
std::span<const Patch> Patches();

}  // namespace viaduct::guest
