// A lab that stays up after the command has ended: a background process supervises its simulator.
#pragma once

#include "scenario/scenario.h"

namespace viaduct::run {

// Builds the lab, waits for convergence (with progress as in Execute()), leaves a background
// process that keeps a simulator running until the lab is taken down, and returns. A simulator that
// fails is replaced: the lab forwards by the last routes meanwhile. After five failures in turn the
// process gives up and leaves the lab as it is (lab::SimulatorHistory). Throws as Execute() does,
// and then leaves nothing behind. The caller must be root or have an inherited broker connection.
void BringUp(const scenario::Scenario& scenario, bool quiet);

}  // namespace viaduct::run
