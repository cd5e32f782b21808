// Keys with several names (Type::kAlias). All code that runs after the parser knows only the
// current name.
#pragma once

#include <string>

#include "scenario/text/value.h"

namespace viaduct::scenario {

// Renames the keys of the file that are aliases to the keys that they stand for. Throws UsageError
// if a section has both.
void ResolveAliases(Value& root);

// Returns the assignment (Override()) with the current name of its key, for example of
// "nodes.a.on_host=h1".
std::string ResolveAliases(const std::string& assignment);

}  // namespace viaduct::scenario
