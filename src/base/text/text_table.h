// Text tables for people.
#pragma once

#include <string>
#include <vector>

namespace viaduct::result {

// Returns whether each column holds mostly numbers; such columns are right-aligned, including their
// heads. The first row is the head; shorter rows are remarks and are ignored.
std::vector<bool> NumberColumns(const std::vector<std::vector<std::string>>& rows);
// Returns rows of cells as aligned columns; the first row is the head. No cell can command a
// terminal (TerminalLine()).
std::string FormatTable(const std::vector<std::vector<std::string>>& rows);

}  // namespace viaduct::result
