// A lab that stays up after the command has ended: a background process, the supervisor, restarts
// its simulator.
#pragma once

#include "scenario/scenario.h"

namespace viaduct::run {

// Builds the lab, waits for convergence (with progress as in Execute()), leaves a background
// process that keeps a simulator running until the lab is removed, and returns. A simulator that
// fails is replaced; until the new simulator is ready, the lab forwards by the last routes. After
// five consecutive failures the background process gives up and leaves the lab as it is
// (lab::SimulatorHistory). Throws the exceptions of Execute(), and then leaves nothing behind. The
// caller must be root or have an inherited broker connection.
void BringUp(const scenario::Scenario& scenario, bool quiet);

}  // namespace viaduct::run
