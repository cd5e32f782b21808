// The edit distance of two words, for "did you mean" hints.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace viaduct {

// Returns the Levenshtein distance: the number of bytes that must be inserted, deleted or replaced
// to turn one text into the other.
size_t EditDistance(std::string_view a, std::string_view b);

// Returns the word of `known` that is most similar to `word`; "" if none is similar. Words are
// similar if their distance is at most two bytes, or a third of a longer word.
std::string Nearest(std::string_view word, const std::vector<std::string>& known);

// Returns Nearest() as part of a message, "; did you mean 'WORD'?", or "" if no word is similar.
std::string DidYouMean(std::string_view word, const std::vector<std::string>& known);

}  // namespace viaduct
