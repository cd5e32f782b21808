// Common parts of the data planes that forward frames: those of an RBridge (WMRP), and of a
// forwarding program of the scenario. They forward by tables that the simulator keeps itself, in
// memory which the sink creates; there are no routes.
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
  // Throws Error if there is no shared memory.
  EventMemory();

  forward::SharedMemory ring;
  UniqueFd doorbell, bell;  // for EventWriter, EventReader
};

// Returns the counters of such a node's frames (RouteSink::PacketCounters()) that were lost, by
// cause: `losses` of the program's outcomes, and the losses of any program.
std::map<std::string, uint64_t> FrameDrops(
    const std::map<std::string, std::map<std::string, uint64_t>>& counters,
    const std::vector<std::string>& losses);
// Returns the lost frames of an RBridge, by cause, without frames that were not for it.
std::map<std::string, uint64_t> RBridgeDrops(
    const std::map<std::string, std::map<std::string, uint64_t>>& counters);

// Throws UsageError if there are changes: the sink of such a node has no routes.
void RefuseRoutes(const RouteChanges& changes);

}  // namespace viaduct::fib
