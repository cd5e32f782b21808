#include "base/text/markdown.h"

namespace viaduct {

std::string TableCell(std::string_view text) {
  std::string cell;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') {
      // White space after a line break is the indentation of the source code: skips it.
      while (i + 1 < text.size() && (text[i + 1] == ' ' || text[i + 1] == '\n')) ++i;
      cell += ' ';
    } else {
      cell += text[i] == '|' ? "\\|" : std::string(1, text[i]);
    }
  }
  return cell;
}

}  // namespace viaduct
