// Common parts of the data planes that forward frames: the data planes of an RBridge (WMRP), and of
// a forwarding program of the scenario. The simulator writes the tables of these data planes
// directly, into memory that the sink creates; there are no routes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "plane/fib/route_sink.h"
#include "plane/forward/shared_memory.h"

namespace viaduct::fib {

// The ring in which the data plane reports its observations to the simulator.
struct EventMemory {
  // Creates the shared memory of the ring. Throws Error if there is no shared memory.
  EventMemory();

  forward::SharedMemory ring;
  UniqueFd doorbell, bell;  // the ends of a socket pair for EventWriter and EventReader
};

// Returns the numbers of lost frames of a node that forwards frames, by cause, from its counters
// (RouteSink::PacketCounters()). `losses` names the program's outcomes that are losses; losses that
// any program can have are added.
std::map<std::string, uint64_t> FrameDrops(
    const std::map<std::string, std::map<std::string, uint64_t>>& counters,
    const std::vector<std::string>& losses);
// Returns the numbers of lost frames of an RBridge, by cause, without frames that were not for the
// RBridge.
std::map<std::string, uint64_t> RBridgeDrops(
    const std::map<std::string, std::map<std::string, uint64_t>>& counters);

// Throws UsageError if there are changes: the sink of a node that forwards frames has no routes.
void RefuseRoutes(const RouteChanges& changes);

}  // namespace viaduct::fib
