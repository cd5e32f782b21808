// A lab that stays up after the command has ended: its simulator, watched over by a process in the
// background.
#pragma once

#include "scenario/scenario.h"

namespace viaduct::run {

// Builds the lab, waits for convergence (progress as in Execute()), leaves a process behind that
// keeps the simulator until the lab is taken down, and returns. Throws as Execute() does; then
// nothing is left. Must be called with root's rights or an inherited broker connection.
void BringUp(const scenario::Scenario& scenario, bool quiet);

}  // namespace viaduct::run
