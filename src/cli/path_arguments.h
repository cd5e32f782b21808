// Converts the command line of `viaduct path` to the engine's configuration.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "path/engine/config.h"

namespace viaduct::cli {

// The options of pairs in the order they were typed, which gives them meaning: --up, --down and
// --class apply to the pair (or class) before them; before the first pair, --up and --down set the
// defaults of all pairs. Keys: "between" (once for each of two interfaces), "pair", "class", "up",
// "down".
using OrderedArguments = std::vector<std::pair<std::string, std::string>>;

// Adds to `config` the `ports` (interface names, each once) and `pairs`; pairs that it has already
// count as placed before the first argument. Throws UsageError naming the argument.
engine::Config PairsFromArguments(const OrderedArguments& arguments, engine::Config config = {});

// "eth0", "eth0:vlan=10", "eth0:mpls=100"; the port is the index of that name in `ports`, to which
// it is added if necessary.
engine::Attachment ParseAttachment(const std::string& text, std::vector<std::string>* ports);

}  // namespace viaduct::cli
