// Text of unknown origin in a line for a person.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace viaduct {

// `text` with control characters as "\x1b", so that no name in a message can command a terminal
// (escape sequences, ECMA-48). Line ends and tabs stay.
inline std::string TerminalText(std::string_view text) {
  std::string shown;
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    const bool control = (code < 0x20 && c != '\n' && c != '\t') || code == 0x7f;
    shown += control ? fmt::format("\\x{:02x}", code) : std::string(1, c);
  }
  return shown;
}

}  // namespace viaduct
