// Markdown for the reference pages that `viaduct docs` prints from the programs' own tables.
#pragma once

#include <string>
#include <string_view>

namespace viaduct {

// `text` as a cell of a Markdown table: its lines are joined, its vertical bars escaped.
std::string TableCell(std::string_view text);

}  // namespace viaduct
