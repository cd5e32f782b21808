// The imports of a kernel's image: functions of libc, and replacements of them.
#pragma once

#include <string_view>

namespace viaduct::embed {

// For tables of functions of any type.
using Function = void (*)();

struct Import {
  const char* name = nullptr;
  Function ours = nullptr;    // nullptr: libc's own
  const char* why = nullptr;  // the reason for the replacement
};

// Returns the import of this name; nullptr if images may not import it.
const Import* FindImport(std::string_view name);
// Returns the address to which it is bound. Throws Error when libc has no such function.
void* Bind(const Import& import);

}  // namespace viaduct::embed
