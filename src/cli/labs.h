// Finding the lab that a subcommand refers to.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "guest/shell/paused.h"
#include "lab/record.h"
#include "run/watch/snapshot.h"

namespace viaduct::cli {

// The labs that can be connected to (`viaduct up`), without those of a `viaduct run` in progress.
std::vector<lab::RunInfo> LabsThatAreUp();
// `given`, or if it is empty the only lab that is up. Throws UsageError when there is none, or
// several.
std::string ChooseLab(const std::string& given);
// The paused simulation of that name, or pid, if no lab that is up has the name.
std::optional<guest::PausedSimulation> PausedUnlessLab(const std::string& name);
using watch::StateOf;

}  // namespace viaduct::cli
