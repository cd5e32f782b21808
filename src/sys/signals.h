// Signals as a descriptor, and as a fresh process has them.
#pragma once

#include <csignal>
#include <initializer_list>

#include "base/fd.h"

namespace viaduct::sys {

sigset_t SignalSet(std::initializer_list<int> signals);

// Blocks the signals in this thread and those that it starts from now on. They wait for the
// descriptor (signalfd(2), non-blocking). Throws SystemError.
UniqueFd CatchSignals(std::initializer_list<int> signals);
// The next signal that waits for the descriptor; 0: none does.
int TakeSignal(int fd);

void UnblockSignals();
// Every signal does what it does by default: also those that the parent ignored.
void ResetSignals();

}  // namespace viaduct::sys
