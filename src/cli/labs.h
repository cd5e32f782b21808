// Labs that are up, as the subcommands name them.
#pragma once

#include <string>
#include <vector>

#include "lab/record.h"

namespace viaduct::cli {

// Those that can be connected to (`viaduct up`), not those of a `viaduct run` in progress.
std::vector<lab::RunInfo> LabsThatAreUp();
// `given`, or the only lab that is up. UsageError when there is none, or several.
std::string ChooseLab(const std::string& given);
// "up", "running" or "dead".
std::string StateOf(const lab::RunInfo& run);

}  // namespace viaduct::cli
