// Files that come with the programs of the product and are used, not linked.
#pragma once

#include <filesystem>
#include <string>

namespace viaduct::guest {

// The file of this name: in VIADUCT_LIBEXEC where that is set, else beside the running program or
// in the folder above, else in the folder this was built in. Throws EnvironmentError.
std::filesystem::path FindCompanion(const std::string& name);

}  // namespace viaduct::guest
