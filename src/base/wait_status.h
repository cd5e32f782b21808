// Wait statuses of processes (waitpid(2)).
#pragma once

#include <string>

namespace viaduct {

// Describes a wait status: "ended with status 3", "was killed by signal 9 (Killed)".
std::string DescribeEnding(int status);
// Describes a signal: "signal 9 (Killed)".
std::string DescribeSignal(int signal);
// Returns a wait status as a shell reports it in $?: the exit status, or 128 plus the signal's
// number.
int ShellStatus(int status);
// Whether a process exited normally with the given exit status.
bool EndedWith(int status, int exit_status);

}  // namespace viaduct
