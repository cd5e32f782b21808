// The data plane of an RBridge (WMRP) that forwards in a process of its own (forward/rbridge.h).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fib/data_plane.h"
#include "fib/rbridge_events.h"
#include "forward/equipment.h"
#include "forward/shared_memory.h"

namespace viaduct::fib {

class UserspaceRBridge final : public RouteSink {
 public:
  // Throws Error if there is no shared memory.
  explicit UserspaceRBridge(const NodePlace& place);

  std::map<std::string, std::map<std::string, uint64_t>> PacketCounters() const override;
  std::map<std::string, uint64_t> Drops() const override { return RBridgeDrops(PacketCounters()); }
  std::optional<forward::SharedWith> Shared() const override;
  std::optional<forward::ControlMemory> Control() const override;

 private:
  void DoApply(const RouteChanges& changes) override;

  std::vector<std::string> interfaces_;
  forward::SharedMemory tables_, counters_;
  EventMemory events_;
};

}  // namespace viaduct::fib
