// The edit distance of two words, for "did you mean" hints.
#pragma once

#include <cstddef>
#include <string_view>

namespace viaduct {

// The Levenshtein distance: how many bytes must be inserted, deleted or replaced to turn one text
// into the other.
size_t EditDistance(std::string_view a, std::string_view b);

}  // namespace viaduct
