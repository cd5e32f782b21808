// Applying the project's patches to a kernel's sources.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "guest/image/build_inputs.h"
#include "guest/image/tool.h"

namespace viaduct::guest {

// Applies patches to the tree at tool.folder, in their order. Patches whose names begin with the
// same number do the same for different kernels: the first of them that applies is used. A patch
// whose header has a line "Since: 7.0" is not for kernels before that. A patch is applied whole or
// not at all. Writes the patches into `scratch`. Returns, for each number of which no patch
// applied, the names of its patches for this kernel: a kernel works without them, and their headers
// state what is lost.
std::vector<std::string> ApplyPatches(std::span<const Patch> patches,
                                      const std::filesystem::path& scratch,
                                      const ToolOptions& tool);

}  // namespace viaduct::guest
