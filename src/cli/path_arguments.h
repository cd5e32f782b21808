// What `viaduct path` is asked on its command line, as the engine takes it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/config.h"

namespace viaduct::cli {

// The options of pairs in the order they were typed, which gives them meaning: --up, --down and
// --class concern the pair (or class) before them; before the first pair, --up and --down are what
// pairs that say nothing get. Keys: "between" (once for each of two interfaces), "pair", "class",
// "up", "down".
using OrderedArguments = std::vector<std::pair<std::string, std::string>>;

// Fills in `ports` (interface names, each once) and `pairs`. UsageError names the argument.
engine::Config PairsFromArguments(const OrderedArguments& arguments);

// "eth0", "eth0:vlan=10", "eth0:mpls=100"; the port is that name's index in `ports`, where it is
// added if need be.
engine::Attachment ParseAttachment(const std::string& text, std::vector<std::string>* ports);

}  // namespace viaduct::cli
