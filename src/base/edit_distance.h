// How far apart two words are, for "did you mean".
#pragma once

#include <cstddef>
#include <string_view>

namespace viaduct {

// Levenshtein's distance: how many bytes must be put in, taken out or replaced to make one of the
// other.
size_t EditDistance(std::string_view a, std::string_view b);

}  // namespace viaduct
