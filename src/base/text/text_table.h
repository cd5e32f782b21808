// Text tables for people.
#pragma once

#include <string>
#include <vector>

namespace viaduct::result {

// Returns for each column whether it holds mostly numbers, and so is right-aligned, including its
// head. The first row is the head; rows with fewer cells are remarks and are ignored.
std::vector<bool> NumberColumns(const std::vector<std::vector<std::string>>& rows);
// Formats rows of cells as a table with aligned columns; the first row is the head. No cell can
// command the terminal (TerminalLine()).
std::string FormatTable(const std::vector<std::vector<std::string>>& rows);

}  // namespace viaduct::result
