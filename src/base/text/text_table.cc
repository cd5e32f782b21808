#include "base/text/text_table.h"

#include <algorithm>
#include <cctype>

#include "base/text/terminal_text.h"

namespace viaduct::result {
namespace {

// Returns the number of terminal columns that the text takes; every UTF-8 character counts as one.
size_t Width(const std::string& text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

std::vector<bool> NumberColumns(const std::vector<std::vector<std::string>>& rows) {
  std::vector<int> balance(rows.at(0).size());
  for (size_t r = 1; r < rows.size(); ++r) {
    if (rows[r].size() != balance.size()) continue;
    for (size_t i = 0; i < balance.size(); ++i) {
      if (!rows[r][i].empty() && rows[r][i] != "-") {
        balance[i] += std::isdigit(static_cast<unsigned char>(rows[r][i][0])) ? 1 : -1;
      }
    }
  }
  std::vector<bool> numbers(balance.size());
  std::transform(balance.begin(), balance.end(), numbers.begin(), [](int b) { return b > 0; });
  return numbers;
}

std::string FormatTable(const std::vector<std::vector<std::string>>& given) {
  std::vector<std::vector<std::string>> rows = given;
  for (auto& row : rows) {
    for (std::string& cell : row) cell = TerminalLine(cell);
  }
  const std::vector<bool> numbers = NumberColumns(rows);
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    // A row with fewer cells than the head is a remark, which may span the columns: only its first
    // cell counts for the widths.
    const size_t columns =
        row.size() == rows[0].size() ? row.size() : std::min<size_t>(1, row.size());
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < columns; ++i) widths[i] = std::max(widths[i], Width(row[i]));
  }
  std::string text;
  for (size_t r = 0; r < rows.size(); ++r) {
    std::string line;
    const bool whole = rows[r].size() == numbers.size();
    for (size_t i = 0; i < rows[r].size(); ++i) {
      const std::string& cell = rows[r][i];
      const std::string padding(widths[i] - std::min(widths[i], Width(cell)), ' ');
      line += (i ? "  " : "") + (numbers[i] && whole ? padding + cell : cell + padding);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
    if (r > 0) continue;
    size_t total = 2 * (widths.size() - 1);
    for (const size_t width : widths) total += width;
    text += std::string(total, '-') + "\n";
  }
  return text;
}

}  // namespace viaduct::result
