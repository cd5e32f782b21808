// Markdown for the reference pages that `viaduct docs` prints from the tables in the programs.
#pragma once

#include <string>
#include <string_view>

namespace viaduct {

// Returns `text` as a cell of a Markdown table: joins its lines and escapes its vertical bars.
std::string TableCell(std::string_view text);

}  // namespace viaduct
