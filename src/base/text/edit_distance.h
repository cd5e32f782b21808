// The edit distance of two words, for "did you mean" hints.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace viaduct {

// The Levenshtein distance: how many bytes must be inserted, deleted or replaced to turn one text
// into the other.
size_t EditDistance(std::string_view a, std::string_view b);

// The one of `known` that `word` is most like; "" if it is like none: two bytes may differ, or a
// third of a longer word.
std::string Nearest(std::string_view word, const std::vector<std::string>& known);

// The same as the part of a message: "; did you mean 'WORD'?", or "" if there is none.
std::string DidYouMean(std::string_view word, const std::vector<std::string>& known);

}  // namespace viaduct
