// The run of one machine's part of a lab (`viaduct rank`), which mpirun starts on the machine.
#pragma once

#include <functional>

namespace viaduct::machines {

// Runs the part of this machine. Rank 0 reads the request of the launching command (launch.h) from
// descriptor 3 and writes the results of all machines to standard output, as one line of JSON.
// Other ranks write nothing, unless rank 0 is gone. Calls `need_root` before the lab is built.
// Returns the exit status.
int RunRank(const std::function<void()>& need_root);

}  // namespace viaduct::machines
