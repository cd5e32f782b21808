// The run of one machine's part of a lab, started there by mpirun (`viaduct rank`).
#pragma once

#include <functional>

namespace viaduct::machines {

// Runs the part of this machine. Rank 0 reads the launching command's request (launch.h) from
// descriptor 3 and writes the results of all machines to standard output, as one line of JSON.
// Other ranks write nothing, unless rank 0 is gone. `need_root` is called before the lab is built.
// Returns the exit status.
int RunRank(const std::function<void()>& need_root);

}  // namespace viaduct::machines
