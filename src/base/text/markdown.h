// Markdown for the reference pages that `viaduct docs` prints from the programs' own tables.
#pragma once

#include <string>
#include <string_view>

namespace viaduct {

// Returns `text` as a cell of a Markdown table: with its lines joined and its vertical bars
// escaped.
std::string TableCell(std::string_view text);

}  // namespace viaduct
