// Receives signals through a descriptor, and resets them to their defaults.
#pragma once

#include <csignal>
#include <initializer_list>

#include "base/fd.h"

namespace viaduct::sys {

sigset_t SignalSet(std::initializer_list<int> signals);

// Whether this process ignores SIGHUP, because it was started to outlive its terminal, as by
// nohup(1).
bool IgnoresHangUp();

// Blocks the signals in this thread and in threads that it starts later. Returns a descriptor from
// which the signals are read (signalfd(2), non-blocking). If SIGHUP is ignored, it is still ignored
// afterwards. Throws SystemError.
UniqueFd CatchSignals(std::initializer_list<int> signals);
// Returns the next pending signal of the descriptor; 0 if there is none.
int TakeSignal(int fd);

void UnblockSignals();
// Resets every signal to its default action, including those that the parent ignored.
void ResetSignals();

}  // namespace viaduct::sys
