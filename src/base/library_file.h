// Checks of a shared library's file before it is loaded.
#pragma once

#include <string>

namespace viaduct {

// Throws UsageError naming the library if its file is cut off, as a file that is being written is:
// reading the missing part would kill the process that loads it (SIGBUS). A file that is no library
// for this machine passes; dlopen(3) reports the reason.
void CheckIsWholeLibrary(const std::string& path);

}  // namespace viaduct
