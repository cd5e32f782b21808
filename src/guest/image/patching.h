// Applying the project's patches to a kernel's source tree.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "guest/image/build_inputs.h"
#include "guest/image/tool.h"

namespace viaduct::guest {

// Applies patches to the source tree at `tool.folder`, in their order. Patches whose names begin
// with the same number have the same purpose in different kernels: the first of them that applies
// is used. A patch whose header has a line "Since: 7.0" is not for kernels older than 7.0. Each
// patch is applied completely or not at all. Writes the patches' files into `scratch`. Returns the
// names of the patches that are for this kernel and did not apply, unless another patch with the
// same number was applied. A kernel works without these patches; their headers state which features
// are then missing.
std::vector<std::string> ApplyPatches(std::span<const Patch> patches,
                                      const std::filesystem::path& scratch,
                                      const ToolOptions& tool);

}  // namespace viaduct::guest
