// What the data planes that forward frames have in common: those of an RBridge (WMRP), and of a
// forwarding program of the scenario's. They forward by tables that the simulator keeps itself, in
// memory which the sink makes; there are no routes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "plane/fib/route_sink.h"
#include "plane/forward/shared_memory.h"

namespace viaduct::fib {

// The ring in which the simulator is told what its data plane saw.
struct EventMemory {
  // Throws Error if there is no shared memory.
  EventMemory();

  forward::SharedMemory ring;
  UniqueFd doorbell, bell;  // EventWriter's, EventReader's
};

// Of the counters of such a node's frames (RouteSink::PacketCounters()) those of frames that were
// lost, by cause: `losses` of the program's outcomes, and those of any program.
std::map<std::string, uint64_t> FrameDrops(
    const std::map<std::string, std::map<std::string, uint64_t>>& counters,
    const std::vector<std::string>& losses);
// The same of an RBridge; not those that were not for it.
std::map<std::string, uint64_t> RBridgeDrops(
    const std::map<std::string, std::map<std::string, uint64_t>>& counters);

// The sink of such a node gets none. Throws UsageError if there are any.
void RefuseRoutes(const RouteChanges& changes);

}  // namespace viaduct::fib
