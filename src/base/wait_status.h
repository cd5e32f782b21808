// Wait statuses of processes (waitpid(2)).
#pragma once

#include <string>

namespace viaduct {

// Describes a wait status: "ended with status 3", "was killed by signal 9 (Killed)".
std::string DescribeEnding(int status);
// Describes a signal: "signal 9 (Killed)".
std::string DescribeSignal(int signal);
// Returns the status as a shell reports it ($?): the exit status, or 128 + the signal's number.
int ShellStatus(int status);
// Returns whether the process exited normally with this exit status.
bool EndedWith(int status, int exit_status);

}  // namespace viaduct
