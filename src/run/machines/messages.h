// What the runs on a lab's hosts say to each other: JSON objects with a "type".
//   scenario   rank 0 to all: "text" (scenario::Print()), "version", "file", and the options
//   meet       to rank 0: this host has come to "stage"; "host" with the first one
//   met        rank 0 to all: every host has; "start": on rank 0's clock, ns; "clocks": by host,
//              see ClockReading; "ranks": by host
//   routes     to rank 0: "passages" (run::Peers::ReportRoutes())
//   converged  rank 0 to all: the routes of all hosts together reach every node, of "pairs" pairs
//   of
//              nodes all but those of "unreachable", which had until convergence.timeout
//   flow       to the host of a flow's receiver (run::Peers::Tell())
//   result     to rank 0: "result" (result::RunResult) of this host's part
//   failed     to rank 0, and from it to all: "error", "status"
//   bye        to rank 0: everything on this host is removed
//   end        rank 0 to all: so it is on all hosts
#pragma once

#include "run/machines/mpi_frame.h"

namespace viaduct::hosts {

inline constexpr char kScenario[] = "scenario", kMeet[] = "meet", kMet[] = "met",
                      kRoutes[] = "routes", kConverged[] = "converged", kFlow[] = "flow",
                      kResult[] = "result", kFailed[] = "failed", kBye[] = "bye", kEnd[] = "end";

// What the error ends with if a host's program has ended without saying why.
inline constexpr char kEnded[] = "viaduct's processes there have ended";

// The same if it has not been heard of for kMostSilence.
inline constexpr char kSilent[] =
    "nothing was heard of it for 10 s (frozen, or its network is down)";
static_assert(kMostSilence == 10);

// What a program says that mpirun ended.
inline constexpr char kConnectionEnded[] = "the connection to the other hosts (mpirun) has ended";

// What rank 0 prints on standard error when all hosts are there.
inline constexpr char kAllThere[] = "viaduct rank: all hosts are there";

}  // namespace viaduct::hosts
