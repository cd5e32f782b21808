// A command line split into words as a POSIX shell would, without its expansions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace viaduct::scenario {

// Understands white space, '...', "..." and \C (POSIX.1-2017, XCU 2.2). Throws UsageError on an
// unterminated quote, and on what a shell would act on unquoted (| & ; < > ( ) $ ` * ?, and # ~ at
// the start of a word): no shell runs the command, so it would not do what it says.
std::vector<std::string> SplitWords(std::string_view text);
// The inverse, for messages and records.
std::string JoinWords(const std::vector<std::string>& words);

}  // namespace viaduct::scenario
