// The files that SPECs name.
#pragma once

#include <string>

namespace viaduct::engine {

// The whole text of a file. Throws UsageError naming it.
std::string ReadFile(const std::string& path);

}  // namespace viaduct::engine
