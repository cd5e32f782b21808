// Splits a command line into words as a POSIX shell would, but without a shell's expansions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace viaduct::scenario {

// Splits a text into words. Understands white space, '...', "..." and \C (POSIX.1-2017, XCU 2.2).
// Throws UsageError for an unterminated quote, and for unquoted characters that a shell would
// interpret (| & ; < > ( ) $ ` * ?, and # ~ at the start of a word): no shell runs the command, so
// they would not have their usual effect.
std::vector<std::string> SplitWords(std::string_view text);
// Joins words to a text that SplitWords() splits into the same words, for messages and records.
std::string JoinWords(const std::vector<std::string>& words);

}  // namespace viaduct::scenario
