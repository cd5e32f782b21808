#include "base/text/edit_distance.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace viaduct {

// Computes the table of Wagner and Fischer, "The String-to-String Correction Problem" (1974), and
// keeps one row of it at a time.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substituted = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = std::exchange(row[j], std::min({substituted, row[j] + 1, row[j - 1] + 1}));
    }
  }
  return row.back();
}

std::string Nearest(std::string_view word, const std::vector<std::string>& known) {
  std::string best;
  size_t distance = std::max<size_t>(2, word.size() / 3) + 1;
  for (const std::string& candidate : known) {
    const size_t d = EditDistance(word.substr(0, 64), candidate);
    if (d < distance) {
      distance = d;
      best = candidate;
    }
  }
  return best;
}

std::string DidYouMean(std::string_view word, const std::vector<std::string>& known) {
  const std::string nearest = Nearest(word, known);
  return nearest.empty() ? "" : "; did you mean '" + nearest + "'?";
}

}  // namespace viaduct
