// A shared library's file, before it is loaded.
#pragma once

#include <string>

namespace viaduct {

// A library that is cut off, as one that is being written, would end the process that loads it
// (SIGBUS) when what is missing is read. Throws UsageError that names it. What is no library of
// this machine's kind passes: dlopen(3) says what it is.
void CheckIsWholeLibrary(const std::string& path);

}  // namespace viaduct
