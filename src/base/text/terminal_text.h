// Text of unknown origin, made safe for a user's terminal.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace viaduct {

// Returns `text` with each control character as an escape such as "\x1b", so that no name in a
// message can command the terminal (escape sequences, ECMA-48). The control characters include the
// set C1, which has two bytes each in UTF-8. Line ends and tabs stay unchanged.
inline std::string TerminalText(std::string_view text) {
  std::string shown;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto code = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : '\0');
    const bool is_c1 = code == 0xc2 && next >= 0x80 && next < 0xa0;
    const bool control = (code < 0x20 && code != '\n' && code != '\t') || code == 0x7f || is_c1;
    shown += control ? fmt::format("\\x{:02x}", is_c1 ? next : code) : std::string(1, text[i]);
    i += is_c1 ? 1 : 0;
  }
  return shown;
}
// Returns TerminalText() with line ends and tabs escaped, too: for text inside a line, such as a
// cell of a table.
inline std::string TerminalLine(std::string_view text) {
  std::string shown;
  for (const char c : TerminalText(text)) {
    shown += c == '\n' ? "\\x0a" : c == '\t' ? "\\x09" : std::string(1, c);
  }
  return shown;
}

}  // namespace viaduct
