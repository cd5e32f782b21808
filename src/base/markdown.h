// For the references that are printed from the programs' own tables (`viaduct docs`).
#pragma once

#include <string>
#include <string_view>

namespace viaduct {

// `text` as a cell of a Markdown table: its lines joined, its bars escaped.
std::string TableCell(std::string_view text);

}  // namespace viaduct
