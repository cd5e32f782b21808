// What a kernel's image imports: functions of libc, and those that are ours instead.
#pragma once

#include <string_view>

namespace viaduct::embed {

// For tables of functions of any type.
using Function = void (*)();

struct Import {
  const char* name = nullptr;
  Function ours = nullptr;    // nullptr: libc's own
  const char* why = nullptr;  // why it is ours
};

// What an image may import; nullptr for anything else.
const Import* FindImport(std::string_view name);
// The address to which it is bound. Throws Error when libc has no such function.
void* Bind(const Import& import);

}  // namespace viaduct::embed
