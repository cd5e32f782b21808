// Checks of a shared library's file before it is loaded.
#pragma once

#include <string>

namespace viaduct {

// Throws UsageError with the library's path if its file is incomplete, for example because the file
// is still being written: the process that loads the library would be killed when it reads the
// missing part (SIGBUS). Accepts a file that is not a library for this machine: dlopen(3) reports
// the reason.
void CheckIsWholeLibrary(const std::string& path);

}  // namespace viaduct
