// Converts the command line of `viaduct path` to the engine's configuration.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "path/engine/config.h"

namespace viaduct::cli {

// The options of pairs in the order in which they were typed, on which their meaning depends: --up,
// --down and --class apply to the pair (or class) before them; before the first pair, --up and
// --down set the defaults of all pairs. Keys: "between" (once for each of two interfaces), "pair",
// "class", "up", "down".
using OrderedArguments = std::vector<std::pair<std::string, std::string>>;

// Returns `config` with `ports` (interface names, each once) and `pairs` added from the arguments;
// pairs that `config` already contains count as given before the first argument. Throws UsageError
// naming the argument.
engine::Config PairsFromArguments(const OrderedArguments& arguments, engine::Config config = {});

// Parses "eth0", "eth0:vlan=10", "eth0:mpls=100". The port of the result is the index of the
// interface name in `ports`, to which the name is added if necessary.
engine::Attachment ParseAttachment(const std::string& text, std::vector<std::string>* ports);

}  // namespace viaduct::cli
