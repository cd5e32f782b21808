// The imports of a kernel's image: functions of libc, and functions that replace them.
#pragma once

#include <string_view>

namespace viaduct::embed {

// The type in which tables store functions of any type.
using Function = void (*)();

struct Import {
  const char* name = nullptr;
  Function ours = nullptr;    // the replacement; nullptr: libc's function is used
  const char* why = nullptr;  // the reason for the replacement
};

// Returns the import with the name `name`; nullptr if images may not import this name.
const Import* FindImport(std::string_view name);
// Returns the address of the function that is used for an import. Throws Error if libc has no such
// function.
void* Bind(const Import& import);

}  // namespace viaduct::embed
