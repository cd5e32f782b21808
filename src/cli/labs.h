// Finds the lab that a subcommand refers to.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "guest/shell/paused.h"
#include "lab/record.h"
#include "run/watch/snapshot.h"

namespace viaduct::cli {

// Returns the labs to which a command can connect (`viaduct up`), without the labs of runs in
// progress (`viaduct run`).
std::vector<lab::RunInfo> LabsThatAreUp();
// Returns `given`, or the only lab that is up if `given` is empty. Throws UsageError if no lab is
// up, or several are.
std::string ChooseLab(const std::string& given);
// Returns the paused simulation with that name or pid, unless a lab that is up has the name.
std::optional<guest::PausedSimulation> PausedUnlessLab(const std::string& name);
using watch::StateOf;

}  // namespace viaduct::cli
