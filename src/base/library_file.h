// Checks of a shared library's file before it is loaded.
#pragma once

#include <string>

namespace viaduct {

// Throws UsageError with the library's path if its file is cut off, as a file is while it is being
// written: reading the missing part would kill the process that loads the library (SIGBUS). Accepts
// a file that is no library for this machine: dlopen(3) reports the reason.
void CheckIsWholeLibrary(const std::string& path);

}  // namespace viaduct
