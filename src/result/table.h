// Text tables for people.
#pragma once

#include <string>
#include <vector>

namespace viaduct::result {

// Which columns hold mostly numbers and are set to the right, head and all. The first row is the
// head; a row shorter than it is a remark and does not count.
std::vector<bool> NumberColumns(const std::vector<std::vector<std::string>>& rows);
// Rows of cells as aligned columns; the first row is the head.
std::string FormatTable(const std::vector<std::vector<std::string>>& rows);

}  // namespace viaduct::result
